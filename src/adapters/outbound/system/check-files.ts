import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Diagnosis } from '../../../application/ports/diagnostics.js';
import { systemReason } from '../../../shared/system-reason.js';

const MEBIBYTE = 1024 ** 2;
/** The unread results of all imports together may take this much. */
const NEEDED_MEBIBYTES = 512;

/** Whether a folder can hold new files, or can be created. */
export function checkFolder(subject: string, folder: string): Diagnosis {
  const existing = nearest(folder);
  try {
    if (!statSync(existing).isDirectory())
      return wrong(subject, `${existing} is a file`, `name a folder in ${subject}`);
    accessSync(existing, constants.W_OK | constants.X_OK);
  } catch (error) {
    const remedy = `give it to the user of the service, or name another folder in ${subject}`;
    return wrong(subject, `no file can be created in ${existing}: ${systemReason(error)}`, remedy);
  }
  return ok(
    subject,
    existing === folder
      ? `${folder} is writable`
      : `${folder} does not exist yet; the first start creates it`,
  );
}

/** The free space of the file systems of these folders. */
export function checkFreeSpace(folders: readonly string[]): Diagnosis[] {
  const systems = new Map(folders.map(nearest).map((folder) => [statSync(folder).dev, folder]));
  return [...systems.values()].map((folder) => {
    const { bavail, bsize } = statfsSync(folder);
    const free = Math.floor((bavail * bsize) / MEBIBYTE);
    const message = `${free.toLocaleString('en')} MiB are free in ${folder}`;
    if (free >= NEEDED_MEBIBYTES) return ok('free space', message);
    const remedy = `free at least ${NEEDED_MEBIBYTES} MiB: the results of imports alone may take that much`;
    return wrong('free space', message, remedy);
  });
}

/** Whether only their owner and group can use these files, of those that exist. */
export function checkSecrecy(files: readonly string[]): Diagnosis[] {
  const open = files.filter((file) => existsSync(file) && (statSync(file).mode & 0o007) !== 0);
  if (open.length === 0) return [ok('permissions', 'no secret can be read by all users of this machine')];
  return open.map((file) =>
    wrong(
      'permissions',
      `every user of this machine can use ${file}, which holds secrets`,
      `chmod o= '${file}'`,
    ),
  );
}

/** The folder itself, or the closest one above it that exists. */
function nearest(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearest(dirname(folder));
}

function ok(subject: string, message: string): Diagnosis {
  return { subject, verdict: 'ok', message };
}

function wrong(subject: string, message: string, remedy: string): Diagnosis {
  return { subject, verdict: 'wrong', message, remedy };
}
