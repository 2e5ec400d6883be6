import type { ErrorCode, Issue } from './resource-types.js';

/** An error response. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';

  constructor(
    readonly status: number,
    /** `unexpected_answer` if another server responded, for instance a proxy. */
    readonly code: ErrorCode | 'unexpected_answer',
    message: string,
    readonly details: readonly Issue[],
    /** Identifies the request in the service's log. */
    readonly requestId: string | undefined,
  ) {
    super(message);
  }
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

export async function errorOf(response: Response): Promise<CatalogueError> {
  const requestId = response.headers.get('X-Request-Id') ?? undefined;
  const body = asJson(await response.text());
  if (!isError(body)) {
    return unexpected(response, `The response was ${response.status}, and not in the form of the service`);
  }
  return new CatalogueError(response.status, body.code, body.message, body.details, requestId);
}

/** The error of a response that does not come from this service. */
export function unexpected({ status, headers }: Response, message: string): CatalogueError {
  const requestId = headers.get('X-Request-Id') ?? undefined;
  return new CatalogueError(status, 'unexpected_answer', message, [], requestId);
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
  return typeof code === 'string' && typeof message === 'string' && Array.isArray(details);
}
