import { expect } from 'chai';
import { NEW_STATE, unusableFields, usableState } from '#src/domain/webhook.js';

const WEBHOOK = {
  name: 'x',
  url: 'https://example.com/',
  resources: ['products'],
  status: 'active',
  createdBy: 1,
  secret: `whsec_${Buffer.alloc(32).toString('base64')}`,
  starts: { products: { at: '1', readAt: 1 } },
};

describe('a stored webhook', () => {
  it('is usable also with fields of a newer release', () => {
    for (const more of [{}, { name: undefined }, { formerSecrets: [] }, { filters: ['x'] }])
      expect(unusableFields({ ...WEBHOOK, ...more }), JSON.stringify(more)).to.deep.equal([]);
  });

  for (const [title, stored, names] of [
    ['of another collection', { ...WEBHOOK, resources: ['products', 'baskets'] }, ['resources']],
    ['without resources', { ...WEBHOOK, resources: undefined }, ['resources']],
    ['of no resources', { ...WEBHOOK, resources: 'products' }, ['resources']],
    ['without a URL', { ...WEBHOOK, url: 7 }, ['url']],
    ['of another protocol', { ...WEBHOOK, url: 'amqp://example.com/' }, ['url']],
    ['of no key', { ...WEBHOOK, createdBy: 'x' }, ['createdBy']],
    ['with another kind of secret', { ...WEBHOOK, secret: 'whpk_x' }, ['secret']],
    ['with damaged secrets', { ...WEBHOOK, formerSecrets: {}, starts: null }, ['formerSecrets', 'starts']],
    ['that is empty', {}, ['url', 'resources', 'createdBy', 'secret', 'starts']],
    ['that is no object', null, ['url', 'resources', 'createdBy', 'secret', 'starts']],
  ] as const)
    it(`is not usable ${title}`, () => {
      expect(unusableFields(stored)).to.deep.equal(names);
    });

  it('has a new state in the place of a damaged one', () => {
    const state = { places: {}, attempts: [] };
    expect(usableState(state)).to.equal(state);
    const pending = { resource: 'baskets' };
    for (const stored of [undefined, null, 'x', {}, { ...state, places: 1 }, { ...state, attempts: {} }])
      expect(usableState(stored)).to.equal(NEW_STATE);
    expect(usableState({ ...state, pending })).to.equal(NEW_STATE);
  });
});
