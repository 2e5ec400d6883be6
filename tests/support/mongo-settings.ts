import { MongoProcess } from './mongo-process.js';
import { temporaryFolder } from './temporary-folder.js';

/**
 * Runs MongoDB for the tests of one `describe`.
 * @returns settings of a service, which get the address of the server before the hooks and tests below
 */
export function mongoSettings(database: string): Record<string, string> {
  const folder = temporaryFolder();
  const settings: Record<string, string> = { STORE: 'mongodb' };
  let server: MongoProcess | undefined;
  before(async () => {
    server = await MongoProcess.onFreePort(folder);
    await server.run();
    // On a busy machine the stand-in may take longer than a service waits by default.
    const patience = ['socket', 'waitQueue', 'serverSelection', 'connect'].map(
      (of) => `&${of}TimeoutMS=60000`,
    );
    settings['MONGODB_URL'] = `${server.url(database)}${patience.join('')}`;
  });
  after(() => server?.kill());
  return settings;
}
