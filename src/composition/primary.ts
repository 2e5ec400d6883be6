import type { SharedRateLimiters } from '../adapters/outbound/cluster/shared-rate-limiters.js';
import type { PinoJournal } from '../adapters/outbound/pino/pino-journal.js';
import type { Settings } from '../config/settings.js';
import { compose } from './container.js';
import { sharedRateLimiters } from './rate-limits.js';
import * as t from './tokens.js';

/** What the primary keeps for its workers. It serves nothing itself, and opens no store. */
export interface Primary {
  readonly journal: PinoJournal;
  readonly limiters: SharedRateLimiters;
}

export function composePrimary(settings: Settings): Primary {
  return { journal: compose(settings)(t.JOURNAL), limiters: sharedRateLimiters(settings) };
}
