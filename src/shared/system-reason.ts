import { getSystemErrorMap } from 'node:util';

/** What an error of the operating system means, with its code: `permission denied (EACCES)`. */
export function systemReason(error: unknown): string {
  const { code, errno = 0, message } = error as NodeJS.ErrnoException;
  const [, meaning = message] = getSystemErrorMap().get(errno) ?? [];
  return code === undefined ? meaning : `${meaning} (${code})`;
}
