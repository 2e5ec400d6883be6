import { expect } from 'chai';
import { REPLICATED_STORES } from '../stores/index.js';
import type { CreatedStore } from '../stores/provider.js';
import { ChildProcessService } from '../support/child-process-service.js';
import { temporaryFolder } from '../support/temporary-folder.js';

for (const provider of REPLICATED_STORES)
  describe(`several workers on ${provider.name}`, () => {
    const folder = temporaryFolder();
    let store: CreatedStore;
    let service: ChildProcessService | undefined;

    before(async () => {
      store = await provider.create(folder);
    });
    after(async () => {
      await service?.stop('SIGKILL');
      await store.remove();
    });

    it('use no id twice, let one racing writer win, print one first key, and exit with 0', async () => {
      service = new ChildProcessService(folder, { ...store.settings, WORKERS: '2' });
      const client = await service.started();
      await service.logs(/(?:"msg":"started"[\s\S]*){2}/);
      expect(service.out.match(/shown this once/g)).to.have.length(1);
      const made = await Promise.all(
        Array.from({ length: 100 }, (_, i) => client.post('/products', { name: `product ${i}` })),
      );
      expect(new Set(made.map(({ json }) => json.id))).to.have.length(100);
      const path = `/products/${made[0]?.json.id}`;
      const racers = Array.from({ length: 40 }, (_, i) =>
        client.put(path, { name: `racer ${i}` }, { headers: { 'If-Match': '"1"' } }),
      );
      const statuses = (await Promise.all(racers)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).to.have.length(1);
      client.close();
      expect(await service.stop()).to.deep.equal({ code: 0, signal: null });
      const pids = new Set([...service.log.matchAll(/"pid":(\d+)[^\n]*"msg":"request"/g)].map(([, pid]) => pid));
      expect(pids.size).to.equal(2);
    });
  });
