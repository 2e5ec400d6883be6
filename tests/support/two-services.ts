import type { HttpClient } from './http-client.js';
import { FIRST_KEY } from './running-service.js';
import { SpawnedService } from './spawned-service.js';
import { temporaryFolder } from './temporary-folder.js';

/** Two processes over one store, for the tests of one `describe`. @returns a client of each */
export function twoServices(settings: Record<string, string>): () => readonly HttpClient[] {
  const folder = temporaryFolder();
  const environment = { BOOTSTRAP_API_KEY: FIRST_KEY, LOG_LEVEL: 'warn', ...settings };
  let services: SpawnedService[] = [];
  let clients: HttpClient[] = [];
  before(async () => {
    services = [new SpawnedService(folder, environment), new SpawnedService(folder, environment)];
    clients = await Promise.all(services.map((service) => service.started(FIRST_KEY)));
  });
  after(async () => {
    for (const client of clients) client.close();
    for (const service of services) await service.stop('SIGKILL');
  });
  return () => clients;
}
