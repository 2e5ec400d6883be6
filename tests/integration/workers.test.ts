import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { ChildProcessService } from '../support/child-process-service.js';
import { mongoUrl } from '../support/mongo-url.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('several workers on MongoDB', () => {
  const folder = temporaryFolder();
  const url = mongoUrl(`workers-${randomUUID()}`);
  let service: ChildProcessService | undefined;

  after(async () => {
    await service?.stop('SIGKILL');
    const client = new MongoClient(url);
    await client.db().dropDatabase();
    await client.close();
  });

  it('use no id twice, let one racing writer win, print one first key, and exit with 0', async () => {
    service = new ChildProcessService(folder, { STORE: 'mongodb', MONGODB_URL: url, WORKERS: '2' });
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
    const pids = new Set(
      [...service.log.matchAll(/"pid":(\d+)[^\n]*"msg":"request"/g)].map(([, pid]) => pid),
    );
    expect(pids.size).to.equal(2);
  });
});
