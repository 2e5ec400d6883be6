import { type Application, compose } from '#src/composition/application.js';
import { loadSettings } from '#src/config/settings.js';
import { Service } from '#src/process/service.js';
import { createStore } from '../stores/index.js';
import type { CreatedStore } from '../stores/provider.js';
import { AdvancedClock } from './fakes.js';
import { HttpClient, type Sender, senderOf } from './http-client.js';
import { hasUsualCertificate, keepCertificate, writeCertificate } from './kept-certificate.js';
import { documentedResponses } from './openapi/described.js';
import { temporaryFolder } from './temporary-folder.js';
import type { TestIssuer } from './test-issuer.js';

/** A well-formed API key for tests. */
export const FIRST_KEY = `pcs_${'0'.repeat(30)}0B9c15`;

export interface InProcessService extends Sender {
  readonly application: Application;
  readonly client: HttpClient;
  readonly port: number;
  readonly managementPort: number;
  readonly folder: string;
  readonly clock: AdvancedClock;
  /** Stops the service before the end of the tests. */
  stop(): Promise<void>;
}

/**
 * Starts the real service in this process, on free ports, for the tests of one `describe`.
 * @param environment settings that override those of a silent service on a new, empty store of STORE, by default memory
 * @param issuer a trusted issuer of access tokens, which starts before the service and stops after it
 * @param parts returns parts that take the place of those of the application
 */
export function inProcessService(
  environment: Record<string, string> = {},
  { issuer, parts }: { readonly issuer?: TestIssuer; parts?(application: Application): Partial<Application> } = {},
): InProcessService {
  const folder = temporaryFolder();
  const state: { -readonly [Name in keyof InProcessService]?: InProcessService[Name] } = {
    folder,
    clock: new AdvancedClock(),
    ...senderOf(() => state.client as HttpClient),
  };
  let store: CreatedStore | undefined;
  let service: Service | undefined;
  before(async () => {
    store = await createStore(environment, folder);
    const settings = {
      PORT: '0',
      MANAGEMENT_PORT: '0',
      DATA_DIR: folder,
      LOG_LEVEL: 'silent',
      RATE_LIMIT_REQUESTS: '1000000',
      SHUTDOWN_GRACE_SECONDS: '1',
      BOOTSTRAP_API_KEY: FIRST_KEY,
      ...store.settings,
      ...environment,
      ...(await issuer?.start())?.settings,
    };
    const isUsual = hasUsualCertificate(environment);
    if (isUsual) writeCertificate(folder);
    state.application = await compose(loadSettings(settings), undefined, {}, state.clock);
    service = new Service(parts ? { ...state.application, ...parts(state.application) } : state.application);
    let stopping: Promise<void> | undefined;
    state.stop = () => {
      stopping ??= service?.stop() ?? Promise.resolve();
      return stopping;
    };
    const { port, managementPort, authorityFile } = await service.start();
    if (isUsual) keepCertificate(folder);
    state.port = port;
    state.managementPort = managementPort;
    state.client = new HttpClient(port, authorityFile ?? environment['TLS_CERT_FILE'], FIRST_KEY);
    state.client.documented = documentedResponses(settings);
  });
  after(async () => {
    state.client?.close();
    await state.stop?.();
    await store?.remove();
    await issuer?.stop();
  });
  return state as InProcessService;
}
