import type { KeyAdministration } from '../../../application/auth/key-administration.js';
import type { SigningKeyAdministration } from '../../../application/auth/signing-key-administration.js';
import type { CopyReport, Progress } from '../../../application/maintenance/copy-archive.js';
import type { BackupProgress } from '../../../application/ports/backup.js';
import type { Settings } from '../../../config/settings.js';
import type { Io } from './io.js';
import type { Seeding } from './seed/seeding.js';

/** What the composition does for the commands. */
export interface Tasks {
  administerKeys(settings: Settings, use: (keys: KeyAdministration) => Promise<void>): Promise<void>;
  administerSigningKeys(
    settings: Settings,
    use: (keys: SigningKeyAdministration) => Promise<void>,
  ): Promise<void>;
  seedStore(settings: Settings, use: (seeding: Seeding) => Promise<void>): Promise<void>;
  copyStores(from: string, to: string, progress: Progress): Promise<CopyReport[]>;
  /** @returns the size of the file in bytes */
  backUpStore(settings: Settings, file: string, progress: BackupProgress): Promise<number>;
  describeService(settings: Settings): object;
  generateKey(): string;
}

/** What the program is given. It loads nothing that its command does not need. */
export interface Program {
  /** Runs the service until a signal stops it. */
  serve(): Promise<void>;
  loadTasks(): Promise<Tasks>;
}

/** What a command is given. */
export interface CliContext extends Program {
  readonly io: Io;
  /** @throws SettingsError */
  loadSettings(): Settings;
}
