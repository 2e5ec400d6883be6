import { requestedWait } from './backoff.js';
import type { ErrorCode, ErrorDetail } from './resource-types.js';

/**
 * An error response. `message` is the code and the first detail, such as
 * `validation_failed: name is required (/name), and 2 more`; without details, the code and the message of the service.
 */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';

  constructor(
    readonly status: number,
    /** `unexpected_response` if another server responded, for instance a proxy. */
    readonly code: ErrorCode | 'unexpected_response',
    message: string,
    readonly details: readonly ErrorDetail[],
    /** Identifies the request in the service's log. */
    readonly requestId: string | undefined,
    /** The wait that the service asks for in `Retry-After`, in seconds, rounded up. */
    readonly retryAfterSeconds?: number | undefined,
  ) {
    super(`${code}: ${summary(message, details)}`);
  }
}

function summary(message: string, [first, ...others]: readonly ErrorDetail[]): string {
  const text = (first?.message ?? message).replace(/\.$/, '');
  const location = first && 'pointer' in first && first.pointer ? ` (${first.pointer})` : '';
  return `${text}${location}${others.length > 0 ? `, and ${others.length} more` : ''}`;
}

/**
 * A write whose outcome is unknown: the connection or the response of one attempt was lost, and a retry was refused as
 * it would be after a success. `cause` is the error of the lost attempt. Read the record to find out.
 */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError';

  constructor(cause: unknown) {
    super('An earlier attempt may have been carried out: its response was lost', { cause });
  }
}

/** The codes of OpenSSL and Node for a rejected certificate. */
const CERTIFICATE_CODES = /CERT|SIGNATURE/;
const UNTRUSTED_CA_CODES = /SELF_SIGNED|UNABLE_TO/;

/**
 * The error for a certificate that Node rejected, with the error of `fetch` as its cause; undefined for other errors.
 * Browsers do not tell why a connection failed.
 */
export function certificateError(fetchError: unknown, url: string): TypeError | undefined {
  const { code, message } = (fetchError as { cause?: { code?: unknown; message?: unknown } }).cause ?? {};
  if (!CERTIFICATE_CODES.test(String(code))) return undefined;
  const remedy = UNTRUSTED_CA_CODES.test(String(code))
    ? '. Set the environment variable NODE_EXTRA_CA_CERTS to the file of its CA, such as data/tls/ca.pem of the service'
    : '';
  const text = `The certificate of ${new URL(url).origin} was rejected: ${message} (${code})${remedy}`;
  return new TypeError(text, { cause: fetchError });
}

export async function errorOf(response: Response): Promise<CatalogueError> {
  const requestId = response.headers.get('X-Request-Id') ?? undefined;
  const body = asJson(await response.text());
  if (!isError(body)) {
    return unexpected(response, `The response was ${response.status}, and not in the form of the service`);
  }
  const { status } = response;
  const wait = requestedWait(response, Date.now());
  const seconds = wait === undefined ? undefined : Math.ceil(wait / 1_000);
  return new CatalogueError(status, body.code, body.message, body.details, requestId, seconds);
}

/** The error of a response that does not come from this service. */
export function unexpected({ status, headers }: Response, message: string): CatalogueError {
  const requestId = headers.get('X-Request-Id') ?? undefined;
  return new CatalogueError(status, 'unexpected_response', message, [], requestId);
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isError(body: unknown): body is Pick<CatalogueError, 'message' | 'details'> & { code: ErrorCode } {
  if (typeof body !== 'object' || body === null) return false;
  const { code, message, details } = body as Partial<Record<string, unknown>>;
  const isDetail = (detail: Partial<ErrorDetail> | null) => typeof detail?.message === 'string';
  return typeof code === 'string' && typeof message === 'string' && Array.isArray(details) && details.every(isDetail);
}
