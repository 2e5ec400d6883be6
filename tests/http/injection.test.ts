import { hostileTexts } from '../faults/injection.contract.js';
import { CONTROL_PAYLOADS, PAYLOADS, UNDECLARED } from '../faults/payloads.js';

const oneOf = (count: number, all: readonly string[]) => all.filter((_, at) => at % count === 0);

/** Some of each kind. `tests/faults/injection.test.ts` sends all, to MongoDB too. */
hostileTexts(
  { STORE: 'sqlite' },
  {
    payloads: oneOf(24, PAYLOADS),
    controls: oneOf(3, CONTROL_PAYLOADS),
    undeclared: oneOf(12, UNDECLARED),
  },
);
