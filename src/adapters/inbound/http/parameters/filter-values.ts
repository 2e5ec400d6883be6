import type { Comparison, Membership, Value } from '../../../../application/ports/list-query.js';
import type { IssueCode } from '../../../../domain/errors.js';
import type { FieldSpec } from '../../../../domain/fields.js';
import { parseInstant } from '../../../../domain/instant.js';
import { readNumber } from '../../../../shared/text-values.js';
import { integerSchema, type JsonSchema } from '../core/json-schema.js';
import { wholeNumberIssue } from './query.js';

export type Operator = Comparison['operator'] | Membership['operator'] | 'all';

/** How the values of a field type are written in a query. */
export interface ValueType {
  readonly operators: readonly Operator[];
  /** Completes the message "takes …". */
  readonly takes: string;
  /** What a number counts; completes "in". */
  readonly unit?: string;
  /** The schema of one value. */
  readonly schema: JsonSchema;
  /** The schema of a value among several. A comma separates them and cannot be escaped. Default: that of one value. */
  readonly element?: JsonSchema;
  issue(text: string): IssueCode | undefined;
  /** @param text a valid value */
  value(text: string): Value;
}

const ORDERED: readonly Operator[] = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in'];
const INTEGERS = { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER };

/** How a client writes `+` in a query, where it means a space. */
const PLUS = 'in a query + is written %2B';

export const TEXT: ValueType = {
  operators: [...ORDERED, 'prefix'],
  takes: 'text',
  schema: { type: 'string' },
  element: { type: 'string', pattern: '^[^,]+$' },
  issue: () => undefined,
  value: (text) => text,
};

/** The number of an attribute. */
export const NUMBER: ValueType = {
  operators: ['lt', 'lte', 'gt', 'gte'],
  takes: `a number within ±(2^53−1), such as 7.5 (${PLUS})`,
  schema: { type: 'number', minimum: INTEGERS.min, maximum: INTEGERS.max },
  issue: (text) => {
    const number = readNumber(text);
    if (number === undefined) return 'invalid_type';
    return Math.abs(number) <= INTEGERS.max ? undefined : 'out_of_range';
  },
  // Turns -0 into 0.
  value: (text) => Number(text) + 0,
};

const SPACELESS_TEXT: ValueType = {
  ...TEXT,
  takes: `text without a space (${PLUS})`,
  schema: { type: 'string', pattern: '^[^ ]*$' },
  element: { type: 'string', pattern: '^[^, ]+$' },
  issue: (text) => (text.includes(' ') ? 'invalid_format' : undefined),
};

const TEXTS: ValueType = { ...TEXT, operators: ['eq', 'in', 'all', 'prefix'] };

const VALUE_TYPES: Readonly<Record<FieldSpec['type'], ValueType | undefined>> = {
  text: TEXT,
  integer: {
    operators: ORDERED,
    takes: 'a whole number within ±(2^53−1), such as 1000',
    schema: integerSchema(INTEGERS.min, INTEGERS.max),
    issue: (text) => wholeNumberIssue(text, INTEGERS),
    // Turns -0 into 0.
    value: (text) => Number(text) + 0,
  },
  instant: {
    operators: ORDERED,
    takes: `a time such as 2030-01-31T00:00:00Z (RFC 3339; ${PLUS})`,
    schema: { type: 'string', format: 'date-time' },
    element: { type: 'string', format: 'date-time', pattern: '^[^,]+$' },
    issue: (text) => (parseInstant(text) === undefined ? 'invalid_format' : undefined),
    value: (text) => parseInstant(text) ?? Number.NaN,
  },
  attributes: undefined,
  presence: undefined,
};

/** The operators that name values of a choice. The others compare with any text. */
const NAMING: readonly Operator[] = ['eq', 'ne', 'in'];

/**
 * @param operator of the filter; absent: equals
 * @returns undefined for a field that is compared with no value
 */
export function valueTypeOf(
  { type, isList, spaceless, unit, choices, noValue }: FieldSpec,
  operator: Operator = 'eq',
): ValueType | undefined {
  if (choices && NAMING.includes(operator)) return choiceOf([choices, noValue ?? []].flat());
  const found = isList ? TEXTS : spaceless ? SPACELESS_TEXT : VALUE_TYPES[type];
  return found && unit !== undefined ? { ...found, unit, takes: `${found.takes}, in ${unit}` } : found;
}

function choiceOf(names: readonly string[]): ValueType {
  const takes = `one of ${names.join(', ')}`;
  // An enumeration would be a type of its own in generated clients.
  const schema: JsonSchema = { type: 'string', pattern: `^(?:${names.join('|')})$` };
  return {
    ...TEXT,
    takes,
    schema,
    element: schema,
    issue: (text) => (names.includes(text) ? undefined : 'invalid_format'),
  };
}
