import { expect } from 'chai';
import { HTTP_STORE_NAMES } from '../stores/index.js';
import { inProcessService } from '../support/in-process-service.js';
import { resourceContract } from './resource.contract.js';

const LONG_NAME = 'x'.repeat(201);

resourceContract({
  plural: 'users',
  cacheControl: 'no-store',
  fields: (n) => ({ name: `user ${n}`, email: `user.${n}@example.com` }),
  invalid: [
    ['a blank name', { name: ' \u2003' }, ['invalid_format /name']],
    ['a name and an e-mail address', { name: LONG_NAME, email: 'nobody' }, ['too_long /name', 'invalid_format /email']],
  ],
});

for (const store of HTTP_STORE_NAMES)
  describe(`the e-mail address of a user on ${store}`, () => {
    const service = inProcessService({ STORE: store });
    const post = (email: unknown) => service.post('/users', { name: 'Ann', email });

    it('can change its case, and is free again after a change or deletion', async () => {
      const own = (await post('Own@example.com')).headers.location ?? '';
      const changed = await service.patch(own, { email: 'oWN@example.com' });
      expect([changed.status, changed.json.email, changed.headers.etag]).to.deep.equal([200, 'oWN@example.com', '"2"']);
      expect((await service.patch(own, { email: 'mine@example.com' })).status).to.equal(200);
      expect((await post('OWN@example.com')).status).to.equal(201);
      expect((await service.delete(own)).status).to.equal(204);
      expect((await post('MINE@example.com')).status).to.equal(201);
    });
  });
