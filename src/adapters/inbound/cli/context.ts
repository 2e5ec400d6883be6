import type { ApiKeyService } from '../../../application/auth/api-keys.js';
import type { SigningKeys } from '../../../application/auth/signing-keys.js';
import type { CopyOptions, CopyReport } from '../../../application/maintenance/copy.js';
import type { Diagnosis } from '../../../application/ports/diagnostics.js';
import type { BackupProgress, RestoreReport } from '../../../application/ports/store.js';
import type { ClientSettings, ExplainedSettings, Settings } from '../../../config/settings.js';
import type { Io } from './io.js';
import type { Seeding } from './samples.js';

/** The tasks that the commands run. The composition implements them. */
export interface Tasks {
  administerKeys(
    settings: Settings,
    use: (keys: ApiKeyService, signingKeys: SigningKeys) => Promise<void>,
    onNewDatabase?: (file: string) => void,
  ): Promise<void>;
  seedStore(settings: Settings, use: (seeding: Seeding) => Promise<void>): Promise<void>;
  copyStores(from: string, to: string, options: CopyOptions): Promise<CopyReport[]>;
  /** @returns the size of the file in bytes */
  backUpStore(settings: Settings, file: string, progress: BackupProgress): Promise<number>;
  restoreStore(settings: Settings, file: string, progress: BackupProgress): Promise<RestoreReport>;
  /** Makes all positions of the feeds expire. A service may use the store meanwhile. */
  resetFeeds(settings: Settings): Promise<void>;
  checkService(settings: Settings, deep: boolean): AsyncIterable<Diagnosis>;
  describeService(settings: Settings): Promise<object>;
  generateKey(): string;
}

/** The entry points of the program. They are separate so that a command loads only what it needs. */
export interface Program {
  /** Runs the service until a signal stops it. */
  serve(): Promise<void>;
  loadTasks(): Promise<Tasks>;
  /** The URLs by which `copy` names stores, for a person. */
  readonly storeUrlForms: string;
  /** @throws StoreConfigError if it is one that cannot be used */
  isStoreUrl(text: string): boolean;
  /** Loads the server of the Model Context Protocol. */
  loadMcp(): Promise<typeof import('#packages/mcp/serve.js')>;
  /** Loads the client of a running service. */
  loadRemote(): Promise<typeof import('#packages/remote/remote-catalogue.js')>;
}

/** The dependencies of a command. */
export interface CliContext extends Program {
  readonly io: Io;
  /** @throws SettingsError */
  loadSettings(): Settings;
  /** @throws SettingsError */
  loadClientSettings(): ClientSettings;
  explainSettings(): ExplainedSettings;
  /** Warnings about environment variables that are probably misspelt settings. */
  unknownVariables(): readonly string[];
  /** Ends the command with an exit code other than 0, after its output. */
  exitWith(code: number): void;
}
