import type { ErrorCode, Issue } from './resource-types.js';

/** An answer that is none of success. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';

  constructor(
    readonly status: number,
    /** `unexpected_answer` where something else than the service answered, a proxy for instance. */
    readonly code: ErrorCode | 'unexpected_answer',
    message: string,
    readonly details: readonly Issue[],
    /** By which the service's log knows the request. */
    readonly requestId: string | undefined,
  ) {
    super(message);
  }
}

/**
 * A write got lost, perhaps on its way there and perhaps on its way back, and its repetition was refused as it is where the
 * write had been done. What got lost is the `cause`. Read the record to find out.
 */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError';

  constructor(cause: unknown) {
    super('An earlier try may have been carried out: its answer got lost', { cause });
  }
}

export async function errorOf(response: Response): Promise<CatalogueError> {
  const requestId = response.headers.get('X-Request-Id') ?? undefined;
  const body = asJson(await response.text());
  if (!isError(body)) {
    return unexpected(response, `The answer was ${response.status}, and not as the service answers`);
  }
  return new CatalogueError(response.status, body.code, body.message, body.details, requestId);
}

/** Of what this service does not answer. */
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
