import { LOCAL_STORES } from '../stores/index.js';
import { isKept } from '../stores/provider.js';
import { hostileTexts } from './injection.contract.js';
import { CONTROL_PAYLOADS, PAYLOADS, UNDECLARED } from './payloads.js';

const every = (count: number, all: readonly string[], included = all[0] ?? '') =>
  all.filter((_, at) => at % count === all.indexOf(included) % count);

/** Some of each kind. `campaigns/faults/injection.test.ts` sends all, to every store. */
for (const store of LOCAL_STORES)
  if (isKept(store))
    hostileTexts(store.name, {
      // The percent sign means every text to LIKE.
      payloads: every(24, PAYLOADS, '%'),
      controls: every(3, CONTROL_PAYLOADS),
      undeclared: every(12, UNDECLARED),
    });
