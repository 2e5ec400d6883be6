import { STATUS_CODES } from 'node:http';
import { CatalogueError } from '../../../domain/errors.js';
import { ERRORS } from './error-catalogue.js';
import { OAuthError } from './oauth/oauth-error.js';

/** Seconds after which a client may try again when the service could not answer. */
const RETRY_AFTER_SECONDS = 1;

export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function statusOf({ code }: CatalogueError): number {
  return ERRORS[code].status;
}

/** @param asProblem RFC 9457 in the place of the service's own shape */
export function errorAnswer(error: CatalogueError, asProblem = false): ErrorAnswer {
  const { code, message, details } = error;
  const status = statusOf(error);
  const own = { ...(error instanceof OAuthError && error.members), code, message, details };
  const body = asProblem
    ? { type: 'about:blank', title: STATUS_CODES[status], status, detail: message, ...own }
    : own;
  return {
    status,
    headers: {
      'Content-Type': asProblem ? 'application/problem+json' : 'application/json',
      'Cache-Control': 'no-store',
      ...(code === 'unavailable' && { 'Retry-After': String(RETRY_AFTER_SECONDS) }),
    },
    body: JSON.stringify(body),
  };
}

/** Anything but a CatalogueError is a defect: the client is told so and nothing more. */
export function asCatalogueError(error: unknown): CatalogueError {
  if (error instanceof CatalogueError) return error;
  return new CatalogueError('internal_error', 'Something went wrong in the service. It has been noted.', [], {
    cause: error,
  });
}
