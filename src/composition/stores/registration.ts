import Joi from 'joi';
import type { DiagnosticReport } from '../../application/ports/diagnostics.js';
import type { BackupProgress, RestoreReport } from '../../application/ports/store.js';
import type { StorageParts, StoredTable } from '../../application/ports/table-store.js';
import type { StorageOptions } from '../../application/records/storage-options.js';

/** @throws StoreConfigError */
export type MakeParts = (options: StorageOptions) => StorageParts;

export interface CheckOptions {
  readonly tables: readonly StoredTable[];
  /** Whether to look for damage in a large database as well. */
  readonly deep: boolean;
  /** The local time, in milliseconds since 1970. */
  now(): number;
}

type Texts<Name extends string> = Readonly<Record<Name, string>>;

/**
 * A store: everything that the program knows of it outside its adapter. Only this object names it. The process that
 * reads settings loads it, so it imports its adapter, and with it the driver, when a function needs it.
 */
export interface StoreRegistration<Setting extends string = never> {
  /** Whether one process can have it open, or several at the same time. */
  readonly processes: 'one' | 'many';
  /** Its own settings, which are texts, as joi validates and describes them. */
  readonly settings: Readonly<Record<Setting, Joi.StringSchema>>;
  /** Loads the driver, and returns a function that makes what a storage consists of, unopened. */
  load(settings: Texts<Setting>): Promise<MakeParts>;
  /** Absent: nothing outlives the process. */
  readonly kept?: KeptStore<Setting>;
}

/** What a store whose data outlives the process has besides. */
export interface KeptStore<Setting extends string = never> {
  /** The URLs by which `catalogue copy` names it, for a person: `sqlite:FILE`. */
  readonly urlForm: string;
  /** The settings that such a URL stands for. Undefined: the URL is not of this store. */
  settingsOf(url: string): Texts<Setting> | undefined;
  /**
   * Examines what a service with these settings uses, and changes nothing: no file, no schema. A service may run
   * meanwhile. It does not open the store, because that makes the schema current.
   */
  check(settings: Texts<Setting>, options: CheckOptions): Promise<DiagnosticReport>;
  /** The files of the store on this machine; absent if there are none. */
  files?(settings: Texts<Setting>): StoreFiles;
  /**
   * Requires that nobody uses the store that is to be copied: later writes would not be in the copy. Absent: the store
   * cannot tell.
   * @throws SourceMissing, StoreInUse
   */
  requireUnused?(settings: Texts<Setting>): Promise<void>;
  /** Copies the store to a new file. */
  readonly backup?: StoreBackup<Setting>;
  /** How to back up a store that has no `backup`, as a sentence: `Use mongodump and mongorestore.` */
  readonly backupAdvice?: string;
}

export interface StoreFiles {
  /** Holds the data, as an absolute path. The first start creates it. */
  readonly database: string;
  /** Those that only their owner may use. */
  readonly secret: readonly string[];
}

export interface StoreBackup<Setting extends string = never> {
  /**
   * Copies the store to a new file. A service may use the store meanwhile.
   * @returns the size of the file in bytes
   * @throws BackupTargetError
   */
  create(settings: Texts<Setting>, file: string, progress: BackupProgress): Promise<number>;
  /**
   * Puts a copy of a backup in the place of the store, which nobody may have open.
   * @param at the time, in milliseconds since 1970
   * @throws SourceMissing, BackupUnusable, BackupTargetError, StoreInUse
   */
  restore(settings: Texts<Setting>, file: string, at: number, progress: BackupProgress): Promise<RestoreReport>;
}

/**
 * Whether a URL of a server has a fragment, or an `@` behind the first `/` or `?` of what follows `//` (RFC 3986 section
 * 3.2). Its password probably has a character that had to be percent-encoded, so parsers take the rest of it for a host,
 * a database or a parameter.
 */
export function isAmbiguousUrl(url: string): boolean {
  return /^[^/]*\/\/(?:[^#]*#|[^/?]*[/?].*@)/s.test(url);
}

/** The schema of a setting that is the URL of a server. Nothing of a refused one is printed. */
export function serverUrl(): Joi.StringSchema {
  return Joi.string()
    .meta({ secrecy: 'url' })
    .custom((text: string, { error }: Joi.CustomHelpers) => (isAmbiguousUrl(text) ? error('url.ambiguous') : text))
    .messages({
      'url.ambiguous':
        '{{#label}} has a #, or an @ behind a / or ?; percent-encode such characters in its credentials: ' +
        '# as %23, / as %2F, ? as %3F, @ as %40',
    });
}
