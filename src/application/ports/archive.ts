import type { Id, Instant, Versioned } from '../../domain/record.js';

/** What deletion leaves: the id stays taken. */
export interface Tombstone {
  readonly id: Id;
  readonly deletedAt: Instant;
}

export type ArchiveEntry = Versioned<unknown> | Tombstone;

/** Everything that a store keeps of one resource, as it is, for carrying it to another store. */
export interface Archive {
  /** Names the resource, alike in every store. */
  readonly name: string;
  /** Records and tombstones in ascending order of id: the first `limit` of those whose id is greater. */
  read(after: Id, limit: number): Promise<readonly ArchiveEntry[]>;
  /** Puts entries under ids that are free; all or a part of them where it fails. */
  add(entries: readonly ArchiveEntry[]): Promise<void>;
  /** Forgets entries, with no tombstone left. */
  discard(ids: readonly Id[]): Promise<void>;
  /** The first id that was never reserved. */
  nextId(): Promise<Id>;
  /** From now on no id before `next` is reserved. */
  raiseNextId(next: Id): Promise<void>;
}
