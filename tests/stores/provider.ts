import { rm } from 'node:fs/promises';
import type { FeedPosition } from '#src/application/ports/change-feed.js';
import type { QueryBudget } from '#src/application/records/lists.js';
import { type Storage, storageOf } from '#src/composition/storage.js';
import { STORES, type StoreName } from '#src/composition/stores/index.js';
import { loadSettings } from '#src/config/settings.js';
import { ENDLESS, TABLES } from '../support/tables.js';
import { createTemporaryFolder } from '../support/temporary-folder.js';

/** What the tests need to know of one value of the setting STORE. */
export interface TestStoreProvider {
  readonly name: StoreName;
  /** Whether there is no server for this computer. The tests of the store are left out then. */
  readonly isMissing?: boolean;
  /** Whether `npm test` has it. The others need a server, which the suites `integration` and `durability` have. */
  readonly isLocal: boolean;
  /** `slow`: a call takes milliseconds, so that large tests are smaller. */
  readonly pace: 'fast' | 'slow';
  /** Whether it removes expired entries by itself. */
  readonly removesExpired: boolean;
  /**
   * The further steps at which `tests/contract/crashing-service.ts` can crash on this store, and what it has written by
   * then.
   */
  readonly ownSteps?: Readonly<Record<string, WrittenSoFar>>;
  /** Returns a position of the same epoch behind the newest change, for the end of a feed. */
  beyond(position: FeedPosition): FeedPosition;
  /**
   * Makes an empty store, which no other call returns. The first call may start a server, which ends with this process.
   * @param folder of its files, if it has files; the caller removes it
   */
  create(folder: string): Promise<CreatedStore>;
  /**
   * Makes an empty store for measurements: on a server as in production, which has a write on disk before it acknowledges
   * it. Absent if there is no such server.
   */
  createDurable?(): Promise<CreatedStore>;
  /**
   * The settings, without STORE, that name a server which nobody runs, and a password. What connects there gives up soon.
   * Absent if the store has no server.
   * @param password as an address has it
   */
  unreachable?(password: string): Readonly<Record<string, string>>;
  /**
   * Starts a server that the test stops and continues, with an empty store in it. Absent if the store has no server.
   * @param folder of its files; the caller removes it
   */
  startServer?(folder: string): Promise<TestServer>;
}

/** What a creation under an idempotency key has written. */
export interface WrittenSoFar {
  readonly reserved: boolean;
  readonly inserted: boolean;
}

export interface CreatedStore {
  /** The settings with which services open it, STORE among them. */
  readonly settings: Readonly<Record<string, string>>;
  /**
   * Deletes all records, in less time than a new store takes, when no service has it open any more. Absent if a new store
   * is as fast.
   * @returns false if the store is not as new; the caller removes it then
   */
  empty?(): Promise<boolean>;
  /** Removes what is not in its folder, when no service has it open any more. */
  remove(): Promise<void>;
}

/** A server in processes of its own. `remove` ends it, suspended or killed as it may be. */
export interface TestServer extends CreatedStore {
  readonly port: number;
  /** The settings, with a proxy on this port of the loopback address in the place of the server. */
  through(port: number): Readonly<Record<string, string>>;
  /** Suspends all processes of the server: none responds, and the connections stay open. */
  suspend(): Promise<void>;
  resume(): Promise<void>;
  /** Ends all processes of the server as a crash does. What it acknowledged is kept. */
  kill(): Promise<void>;
  /** Starts the killed server on the same data and port, and waits until it listens. */
  restart(): Promise<void>;
}

/** An open store with all its repositories. */
export interface OpenStore extends Omit<Storage, 'store'> {
  close(): Promise<void>;
}

/** Whether several processes can have the store open at once. */
export function isShared({ name }: TestStoreProvider): boolean {
  return STORES[name].processes === 'many';
}

/** Whether the data of the store outlives the process. */
export function isKept({ name }: TestStoreProvider): boolean {
  return STORES[name].kept !== undefined;
}

/** A new store, which `close` removes. */
export type NewStore = OpenStore & Pick<CreatedStore, 'settings'>;

/** Opens a new, empty store. */
export async function openNew(provider: TestStoreProvider, budget = ENDLESS): Promise<NewStore> {
  const folder = createTemporaryFolder();
  const { settings, remove } = await provider.create(folder);
  const opened = await openStore(settings, budget);
  return {
    ...opened,
    settings,
    close: async () => {
      await opened.close();
      await remove();
      await rm(folder, { recursive: true });
    },
  };
}

/** Opens the store of these settings, whose data `close` leaves. */
export async function openStore(
  environment: Readonly<Record<string, string>>,
  budget: QueryBudget = ENDLESS,
): Promise<OpenStore> {
  const settings = loadSettings(environment);
  const makeParts = await STORES[settings.STORE].load(settings);
  const { store, ...storage } = storageOf(makeParts({ tables: TABLES, budget }));
  await store.open();
  return { ...storage, close: () => store.close() };
}
