import { expect } from 'chai';
import { ChildProcessService, CLI } from '../../support/child-process-service.js';
import { FIRST_KEY, inProcessService } from '../../support/in-process-service.js';

describe('catalogue changes --follow --cursors', () => {
  const service = inProcessService();

  it('prints a newer cursor after each wait in which nothing changes', async () => {
    const follow = ['changes', '--resource', 'products', '--follow', '--cursors'];
    const environment = { API_KEY: FIRST_KEY, PORT: `${service.port}`, DATA_DIR: service.folder };
    const command = new ChildProcessService(service.folder, environment, [CLI, ...follow]);
    const [, first, second] = await command.prints(/^\{"cursor":"(.+)"\}\n\{"cursor":"(.+)"\}\n/);
    expect(first).to.not.equal(second);
    expect((await command.stop()).signal).to.equal('SIGTERM');
  });
});
