import { type RunningService, runningService } from './running-service.js';
import { TestIssuer } from './test-issuer.js';

/** An issuer, and a service that takes its tokens, for the tests of one `describe`. */
export function issuerAndService(
  environment: Record<string, string> = {},
  issuer = new TestIssuer(),
): { issuer: TestIssuer; service: RunningService } {
  const settings = { ...environment };
  before(async () => {
    Object.assign(settings, (await issuer.start()).settings);
  });
  const service = runningService(settings);
  after(() => issuer.stop());
  return { issuer, service };
}
