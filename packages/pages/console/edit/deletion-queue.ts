import type { CatalogueRecord, Resource } from '../types.js';

/** The time in which a person can undo a deletion. */
export const UNDO_MS = 10_000;

export interface QueuedDeletion {
  readonly resource: Resource;
  readonly record: CatalogueRecord;
  /** The version that the person saw; without it, the newest version is deleted. */
  readonly etag: string | undefined;
  readonly state: 'waiting' | 'sending' | 'failed';
  /** Why it failed. */
  readonly error?: unknown;
}

/** Runs something later. @returns a function that ends this */
type Schedule = (run: () => void, ms: number) => () => void;

/**
 * The deletions that a person can undo, because nothing was sent yet.
 *
 * If the page is closed or reloaded meanwhile, waiting deletions are dropped: the record stays. To close a page is no
 * confirmation, and a record that is still there can be deleted again, while a deleted one does not come back.
 */
export class DeletionQueue {
  private readonly queued = new Map<string, QueuedDeletion>();
  private readonly listeners = new Set<() => void>();
  private isHeld = false;
  private stopTimer = () => {};

  constructor(
    private readonly send: (deletion: QueuedDeletion) => Promise<void>,
    private readonly schedule: Schedule = (run, ms) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  ) {}

  /** Those that wait, that are sent now, and that failed. */
  get deletions(): readonly QueuedDeletion[] {
    return [...this.queued.values()];
  }

  /** Whether the record waits for its deletion, so that lists can mark it. */
  isWaiting(resource: Resource, id: number): boolean {
    return /waiting|sending/.test(this.queued.get(keyOf(resource, id))?.state ?? '');
  }

  /** @param etag the version that the person saw; without it, the newest version is deleted */
  enqueue(resource: Resource, record: CatalogueRecord, etag: string | undefined): void {
    if (this.isWaiting(resource, record.id)) return;
    this.set({ resource, record, etag, state: 'waiting' });
    this.startTimer();
  }

  /** Takes a waiting deletion back, or removes a failed one from the list. What is being sent cannot be taken back. */
  undo(resource: Resource, id: number): void {
    const key = keyOf(resource, id);
    if (this.queued.get(key)?.state !== 'sending') this.remove(key);
  }

  /** Stops the time to undo for as long as a person is about to use it. */
  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
    this.startTimer();
  }

  /** Calls the listener after each change. @returns a function that ends this */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Gives all waiting deletions the whole time again. */
  private startTimer(): void {
    this.stopTimer();
    if (this.isHeld) return;
    this.stopTimer = this.schedule(() => {
      for (const one of this.deletions) if (one.state === 'waiting') void this.carryOut(one);
    }, UNDO_MS);
  }

  private async carryOut(one: QueuedDeletion): Promise<void> {
    this.set({ ...one, state: 'sending' });
    try {
      await this.send(one);
      this.remove(keyOf(one.resource, one.record.id));
    } catch (error) {
      this.set({ ...one, state: 'failed', error });
    }
  }

  private set(one: QueuedDeletion): void {
    this.queued.set(keyOf(one.resource, one.record.id), one);
    for (const listener of this.listeners) listener();
  }

  private remove(key: string): void {
    this.queued.delete(key);
    // The button that had the focus is gone with its row, and reports no end of it.
    if (this.isHeld) this.hold(false);
    for (const listener of this.listeners) listener();
  }
}

function keyOf({ path }: Resource, id: number): string {
  return `${path}/${id}`;
}
