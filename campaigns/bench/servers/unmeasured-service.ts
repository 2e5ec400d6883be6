/** The service without metrics, to measure what they cost. */
import { composeWith } from '#src/composition/application.js';
import { RATE_LIMITERS } from '#src/composition/rate-limits.js';
import { STORES } from '#src/composition/stores/index.js';
import { loadSettings } from '#src/config/settings.js';
import { onShutdownSignal } from '#src/process/exit.js';
import { Service } from '#src/process/service.js';
import { print, startupBanner } from '#src/process/startup-banner.js';

const settings = loadSettings();
const application = composeWith({
  settings,
  makeParts: await STORES[settings.STORE].load(settings),
  makeRateLimits: await RATE_LIMITERS[settings.RATE_LIMITER](),
  isMeasured: false,
});
const service = new Service(application);
onShutdownSignal(
  () => service.stop(),
  (exitCode) => process.exit(exitCode),
);
print(startupBanner(settings, await service.start()));
