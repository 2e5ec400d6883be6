/** The error that a service responds with. */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly details: readonly unknown[];
}

/** The service refuses a request. */
export class RequestRefused extends Error {
  constructor(
    /** The HTTP status. */
    readonly status: number,
    readonly body: ErrorBody,
    /** How long to wait before the next attempt, in seconds, if the service says so. */
    readonly retryAfterSeconds?: number,
  ) {
    super(`${body.message} (${body.code})`);
  }
}

/** The service does not respond. */
export class Unavailable extends Error {}

/** The service that responds is no product catalogue, or of another version. */
export class UnknownService extends Error {}
