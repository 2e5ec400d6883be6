import type { FaultCode } from '../../../domain/errors.js';

const WHOLE_NUMBER = /^-?(?:0|[1-9]\d*)$/;

/** What is wrong with a text that is to be a whole number in decimal digits, if anything. */
export function wholeNumberFault(
  text: string,
  { min, max }: { readonly min: number; readonly max: number },
): FaultCode | undefined {
  if (!WHOLE_NUMBER.test(text)) return 'invalid_type';
  return Number(text) >= min && Number(text) <= max ? undefined : 'out_of_range';
}
