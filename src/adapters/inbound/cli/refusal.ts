import { EXIT_CODES } from '../../../shared/program.js';

/** The exit code for a status with which the service refuses a request, or a line of an import. */
export function exitCodeOfRefusal(status: number): number {
  if (status === 401 || status === 403) return EXIT_CODES.notPermitted;
  return status === 429 || status >= 500 ? EXIT_CODES.unavailable : EXIT_CODES.dataError;
}

/** The detail of an error as a line of text: what is wrong, and where. */
export function detailText(detail: unknown): string {
  const { message, pointer } = Object(detail) as { readonly message?: unknown; readonly pointer?: unknown };
  const text = typeof message === 'string' ? message.replace(/\.$/, '') : JSON.stringify(detail);
  return typeof pointer === 'string' && pointer !== '' ? `${text} (${pointer})` : text;
}
