import { CatalogueError, UnknownOutcomeError } from '#packages/client/index.js';
import { TEXTS } from './texts.js';
import type { ErrorText } from './types.js';

const { errors } = TEXTS;
const BY_STATUS: Readonly<Record<number, ErrorText>> = {
  401: errors.unauthenticated,
  404: errors.notFound,
  412: errors.conflict,
  503: errors.unavailable,
};

/** A version that the service refuses although the record is as it was read. */
export class AlteredTagError extends Error {}

/** An error of the client, in words for a person. */
export function describeError(error: unknown): ErrorText {
  if (error instanceof UnknownOutcomeError) return errors.unknownOutcome;
  if (error instanceof AlteredTagError) return errors.alteredTag;
  if (!(error instanceof CatalogueError)) return isLost(error) ? errors.lost : withText(errors.program, error);
  const { status, code, requestId } = error;
  if (code === 'unexpected_response') return errors.unexpected;
  if (code === 'insufficient_scope')
    return { title: errors.forbidden.title, text: errors.forbidden.text(scopeIn(error.message)) };
  if (status === 429)
    return { title: errors.rateLimited.title, text: errors.rateLimited.text(error.retryAfterSeconds) };
  const found = BY_STATUS[status] ?? (status >= 500 ? errors.internal : refusal(error));
  return requestId === undefined || status < 500
    ? found
    : { ...found, text: `${found.text} ${errors.requestId(requestId)}` };
}

/** What the service says about the field at a JSON Pointer, or about a part of it. */
export function messageAt(error: unknown, pointer: string): string | undefined {
  const details = error instanceof CatalogueError ? error.details : [];
  return details.find((detail) => 'pointer' in detail && detail.pointer?.startsWith(pointer))?.message;
}

/** What the service says about a request that it refused. */
function refusal({ message, code, details }: CatalogueError): ErrorText {
  const texts = details.map((detail) => `${detail.message}.`.replace(/\.\.$/, '.'));
  return {
    title: errors.refused,
    text: texts.length > 0 ? texts.join(' ') : message.replace(`${code}: `, ''),
  };
}

/** Browsers tell nothing about a lost connection but this type. A program error has another message. */
function isLost(error: unknown): boolean {
  return error instanceof TypeError && /fetch|network|load|connection/i.test(error.message);
}

function withText(described: ErrorText, error: unknown): ErrorText {
  return {
    ...described,
    text: `${described.text} (${error instanceof Error ? error.message : String(error)})`,
  };
}

function scopeIn(message: string): string {
  return /\b[a-z-]+:[a-z]+\b/.exec(message)?.[0] ?? '';
}
