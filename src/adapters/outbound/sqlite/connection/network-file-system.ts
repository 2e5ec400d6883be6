import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';

/** Values of `f_type`, by statfs(2). FUSE holds file systems of any kind, such as that of sshfs. */
const NETWORK_TYPES: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x65735546, 'FUSE'],
]);

/** Returns the type of the file system of a file or folder, as statfs(2) has it. */
export type FileSystemType = (path: string) => number;

export const fileSystemType: FileSystemType = (path) => statfsSync(path).type;

/**
 * Returns what is wrong with the place of a database, for a person; undefined if nothing is known to be.
 * @param file an absolute path in a folder that exists
 */
export function networkWarning(file: string, typeOf: FileSystemType): string | undefined {
  // On machines of 32 bits the number is signed.
  const name = NETWORK_TYPES.get(typeOf(existsSync(file) ? file : dirname(file)) >>> 0);
  return name && `${file} is on ${name}, where the locks of SQLite may fail and its database be damaged`;
}

/** What to do about it. */
export const USE_LOCAL_DISK = 'move the database to a disk of this machine';
