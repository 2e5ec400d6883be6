import { expect } from 'chai';
import { ChildProcessService, SERVICE } from '../../support/child-process-service.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

describe('the reader of the log', () => {
  const folder = temporaryFolder();

  it('may be absent: the service keeps serving and stops normally if its log cannot be written', async () => {
    // Standard error is open for reading only, so every write fails.
    const program = ['-c', 'exec "$0" "$@" 2</dev/null', process.execPath, ...SERVICE];
    const service = new ChildProcessService(folder, {}, program, 'sh');
    const client = await service.started();
    for (let i = 0; i < 50; i++) expect((await client.get('/products')).status).to.equal(200);
    client.close();
    expect((await service.stop()).code).to.equal(0);
  });
});
