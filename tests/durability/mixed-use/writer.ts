import { setTimeout as sleep } from 'node:timers/promises';
import type { SeededRandom } from '../../support/seeded-random.js';
import { Creations } from './creations.js';
import { Edits } from './edits.js';
import { Keys } from './keys.js';
import { Reads } from './reads.js';
import { Session, type Shared } from './session.js';

const ACTIONS = {
  create: 30,
  import: 3,
  merge: 18,
  jsonPatch: 14,
  put: 10,
  putMatching: 12,
  remove: 8,
  read: 6,
  search: 4,
  list: 3,
  export: 1,
  createKey: 1,
  revokeKey: 0.7,
} as const;

type Action = keyof typeof ACTIONS;

/** Sends random requests of every kind, and repeats each write until it has a response. */
export class Writer {
  private readonly session: Session;
  private readonly actions: Readonly<Record<Action, () => Promise<unknown>>>;

  constructor(shared: Shared, random: SeededRandom, index: number) {
    const session = new Session(shared, random, index);
    const creations = new Creations(session);
    const reads = new Reads(session);
    const edits = new Edits(session, reads);
    const keys = new Keys(session);
    this.session = session;
    this.actions = {
      create: () => creations.create(),
      import: () => creations.import(),
      merge: () => edits.merge(),
      jsonPatch: () => edits.jsonPatch(),
      put: () => edits.put(),
      putMatching: () => edits.putMatching(),
      remove: () => edits.remove(),
      read: () => reads.read(),
      search: () => reads.search(),
      list: () => reads.list(),
      export: () => reads.export(),
      createKey: () => keys.create(),
      revokeKey: () => keys.revoke(),
    };
  }

  async run(): Promise<void> {
    const { shared, random } = this.session;
    while (!shared.isOver) {
      await this.actions[shared.isKeyed ? random.weighted(ACTIONS) : 'create']();
      if (shared.pauseMs > 0) await sleep(random.below(shared.pauseMs));
    }
  }
}
