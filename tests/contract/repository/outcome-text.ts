import { AppError } from '#src/domain/errors.js';

/** The outcome of one record as text, such as `duplicate_value /sku` for an error. */
export function outcomeText(outcome: string | AppError): string {
  if (!(outcome instanceof AppError)) return outcome;
  return [outcome.code, ...outcome.details.map(({ pointer }) => pointer)].join(' ');
}
