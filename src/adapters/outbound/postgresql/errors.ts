import pg from 'pg';
import { unreachable } from '../../../application/maintenance/circuit-breaker.js';
import { StoreConfigError } from '../../../application/ports/store.js';
import { AppError } from '../../../domain/errors.js';

/**
 * The classes and codes of https://www.postgresql.org/docs/current/errcodes-appendix.html for errors that may pass by
 * another try.
 */
const TRANSIENT_CLASSES = [
  '08', // a connection
  '28', // the name or the password: it is being changed
  '40', // a deadlock, or a transaction that was rolled back
  '53', // resources: the disk is full, no memory, too many connections
  '57', // an operator: a canceled statement, a shutdown, a start that is not done
  '58', // the system: input and output
];
const LOCK_NOT_AVAILABLE = '55P03';
const READ_ONLY = '25006';
/** A standby cannot say its place in the journal. */
const IN_RECOVERY = '55000';
const CANNOT_CONNECT_NOW = '57P03';
const QUERY_CANCELED = '57014';
const TOO_EXPENSIVE = new Set(['53400', '54000']);
const UNIQUE_VIOLATION = '23505';
const DEADLOCK = '40P01';
const UNDEFINED_TABLE = '42P01';

/** At the start another try cannot help with a wrong name, password or database, or a missing right. */
const WRONG_AT_START = /^(?:28|3D000|3F000|42501)/;

/** Nor with what PgBouncer says if it refuses a connection. What else it says with this code is of the server behind it. */
const PROTOCOL_VIOLATION = '08P01';
const REFUSED = /startup parameter|no such|SSL required/;
const INSTEAD: readonly (readonly [said: RegExp, remedy: string])[] = [
  [/startup parameter/, ' Behind PgBouncer in transaction mode, set POSTGRESQL_PREPARED=off.'],
  [/SSL required/, ' Write sslmode=verify-full.'],
];

/** No connection can be made, or each ends: the server stops, starts or is full. */
const NOT_SERVING = /^(?:08|53300|57P)/;

/** Node's errors of a certificate that it does not accept, be it that of the server or one that the URL names. */
const CERTIFICATE = /^(?:CERT_|DEPTH_ZERO_|ERR_OSSL_|ERR_TLS_|SELF_SIGNED_|UNABLE_TO_)/;

/** The system calls by which Node reads a file. */
const FILE = ['open', 'read'];

function codeOf(error: unknown): string {
  return error instanceof pg.DatabaseError ? (error.code ?? '') : '';
}

/** Whether the server itself responded with this error, so that it serves requests. */
export function isResponse(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !NOT_SERVING.test(codeOf(error));
}

/**
 * Whether the connection can be used again after this error. A server that only reads has become a standby: another
 * connection may lead to its successor.
 */
export function isUsableAfter(error: unknown): boolean {
  return isResponse(error) && ![READ_ONLY, IN_RECOVERY].includes(codeOf(error));
}

/** What the error of a call tells about the server: it responds, or a response is missing, or nothing can respond. */
export function signOf(error: unknown): 'response' | 'silence' | 'down' {
  if (error instanceof AppError) return error.code === 'unavailable' ? 'silence' : 'response';
  const isRefused = (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
  if (isRefused || codeOf(error) === CANNOT_CONNECT_NOW) return 'down';
  return isResponse(error) ? 'response' : 'silence';
}

/**
 * Whether the server gave up on a statement because of its cost: its time (the text also says if a person canceled it),
 * the words of more blocks than one query can have, or the limit of temporary files.
 */
export function isTooExpensive(error: unknown): boolean {
  const code = codeOf(error);
  return TOO_EXPENSIVE.has(code) || (code === QUERY_CANCELED && /timeout/.test((error as Error).message));
}

/** Whether it took too long until the pool had a connection for a caller. */
export function isPoolTimeout(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('timeout exceeded');
}

export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === LOCK_NOT_AVAILABLE;
}

export function isTableMissing(error: unknown): boolean {
  return codeOf(error) === UNDEFINED_TABLE;
}

/** Whether some writes of a statement kept the others from being done, so that each may succeed alone. */
export function isRefusedByOne(error: unknown): boolean {
  return [UNIQUE_VIOLATION, DEADLOCK, QUERY_CANCELED].includes(refusalOf(error));
}

/** Whether the server has rolled a write back because it and another one waited for each other. */
export function isDeadlock(error: unknown): boolean {
  return refusalOf(error) === DEADLOCK;
}

/** @param error translated or not */
function refusalOf(error: unknown): string {
  return codeOf(error instanceof AppError ? error.cause : error);
}

/** Returns the index that refused a write; undefined if it was no unique index. */
export function violatedIndex(error: unknown): string | undefined {
  return codeOf(error) === UNIQUE_VIOLATION ? (error as pg.DatabaseError).constraint : undefined;
}

/**
 * Translates an error of the driver or of a statement. A definite error of the server is returned unchanged. Every other
 * becomes `unavailable`: the server did not respond, or not in time, and the outcome is unknown.
 */
export function translateError(error: unknown): unknown {
  if (error instanceof AppError || error instanceof TypeError) return error;
  if (!(error instanceof pg.DatabaseError)) return unreachable(error);
  const code = codeOf(error);
  const isTransient =
    TRANSIENT_CLASSES.includes(code.slice(0, 2)) || [LOCK_NOT_AVAILABLE, READ_ONLY, IN_RECOVERY].includes(code);
  return isTransient ? unreachable(error) : error;
}

/** As {@link translateError}, for the first connection: what no further try mends is a StoreConfigError. */
export function translateStartError(error: unknown): unknown {
  const code = codeOf(error);
  const { code: reason = '', message = '', syscall = '' } = (error ?? {}) as NodeJS.ErrnoException;
  const refused = (text: string) => new StoreConfigError(text, { cause: error });
  if (WRONG_AT_START.test(code) || (code === PROTOCOL_VIOLATION && REFUSED.test(message))) {
    const [, remedy = ''] = INSTEAD.find(([said]) => code === PROTOCOL_VIOLATION && said.test(message)) ?? [];
    return refused(`The server refuses POSTGRESQL_URL: ${message} (${code}).${remedy}`);
  }
  if (FILE.includes(syscall)) return refused(`A file that POSTGRESQL_URL names cannot be read (${reason}).`);
  if (CERTIFICATE.test(reason)) return refused(`The certificate of the PostgreSQL server is not accepted (${reason}).`);
  if (message.includes('does not support SSL'))
    return refused('POSTGRESQL_URL demands TLS, which the server does not offer.');
  const translated = translateError(error);
  if (!(translated instanceof pg.DatabaseError)) return translated;
  return refused(`The server refuses what POSTGRESQL_URL asks for: ${translated.message} (${code}).`);
}
