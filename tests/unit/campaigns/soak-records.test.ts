import { expect } from 'chai';
import { Records } from '../../../campaigns/soak/records.js';

describe('the acknowledged records of the soak test', () => {
  const records = () => {
    const all = new Records('/v1/orders', 3);
    all.add(1, '{"id":1}');
    all.add(2, undefined);
    return all;
  };
  const differences = (of: Records, ...stored: [number, string][]) => of.differences(new Map(stored));

  it('do not differ from a store that has just them', () => {
    expect(differences(records(), [1, '{"id":1}'], [2, '{"id":2}'])).to.deep.equal([]);
  });

  it('differ if one is lost or another text', () => {
    expect(differences(records(), [1, '{"id":1,"name":"x"}'])).to.deep.equal([
      '/v1/orders/1 is {"id":1,"name":"x"}, acknowledged was {"id":1}',
      '/v1/orders/2 is lost',
    ]);
  });

  it('differ if the store has one more, whatever its content is', () => {
    expect(differences(records(), [1, '{"id":1}'], [2, '{"id":2}'], [3, '{"id":3}'])).to.deep.equal([
      '/v1/orders/3 was deleted, or created twice: {"id":3}',
    ]);
  });

  it('differ if a deleted one is back', () => {
    const all = records();
    all.drop(1);
    expect(differences(all, [2, '{"id":2}'])).to.deep.equal([]);
    expect(differences(all, [1, '{"id":1}'], [2, '{"id":2}'])).to.have.length(1);
  });
});
