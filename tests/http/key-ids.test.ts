import { join } from 'node:path';
import { expect } from 'chai';
import { administerKeys } from '#src/composition/admin-tasks.js';
import { loadSettings } from '#src/config/settings.js';
import { inProcessService } from '../support/in-process-service.js';

const READER = { name: 'web shop', scopes: ['products:read'] } as const;

describe('the ids of API keys', () => {
  const service = inProcessService({ STORE: 'sqlite' });
  const settings = () => loadSettings({ STORE: 'sqlite', SQLITE_FILE: join(service.folder, 'catalogue.sqlite') });
  const byCommand = (): Promise<number> =>
    administerKeys(settings(), async (keys) => {
      const { record } = await keys.create({ ...READER, scopes: [...READER.scopes] });
      return record.id;
    });
  const byRequest = async (): Promise<number> => (await service.post('/api-keys', READER)).json.id;

  it('do not jump after a command that ends before it releases anything', async () => {
    const id = await byRequest();
    await new Promise<void>((resolve, reject) => {
      const endless = administerKeys(settings(), async (keys) => {
        await keys.create({ ...READER, scopes: [...READER.scopes] });
        resolve();
        return new Promise<void>(() => {});
      });
      endless.catch(reject);
    });
    expect(await byCommand()).to.equal(id + 2);
  });

  it('are given once each, without a gap, to concurrent commands and requests', async () => {
    const id = await byRequest();
    const ids = await Promise.all(Array.from({ length: 40 }, (_, i) => (i % 4 ? byRequest() : byCommand())));
    expect(ids.sort((a, b) => a - b)).to.deep.equal(Array.from({ length: 40 }, (_, i) => id + 1 + i));
  });

  it('are not given again after the newest key is revoked', async () => {
    const id = await byCommand();
    expect((await service.delete(`/api-keys/${id}`)).status).to.equal(204);
    expect([await byCommand(), await byRequest()]).to.deep.equal([id + 1, id + 2]);
  });
});
