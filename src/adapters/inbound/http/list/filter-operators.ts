import type { Comparison, Filter, Membership, Value } from '../../../../application/records/list-query.js';
import type { IssueCode } from '../../../../domain/errors.js';
import type { FieldSpec } from '../../../../domain/fields.js';
import { parseInstant } from '../../../../domain/instant.js';
import { integerSchema, type JsonSchema } from '../openapi/json-schema.js';
import { type Parameter, wholeNumberIssue } from '../query/query.js';

export type Operator = Comparison['operator'] | Membership['operator'];

/** The limit of values of `.in`. */
export const MAX_VALUES = 100;

/** A filter parameter, without its value. */
export interface Condition extends Parameter {
  /** @param text a valid value */
  filter(text: string): Filter;
}

/** How the values of a field type are written in a query. */
export interface ValueType {
  readonly operators: readonly Operator[];
  /** Completes the message "takes …". */
  readonly takes: string;
  /** The schema of one value. */
  readonly schema: JsonSchema;
  issue(text: string): IssueCode | undefined;
  /** @param text a valid value */
  value(text: string): Value;
}

const ORDERED: readonly Operator[] = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in'];
const INTEGERS = { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER };

export const VALUE_TYPES: Readonly<Record<Exclude<FieldSpec['type'], 'attributes'>, ValueType>> = {
  text: {
    operators: [...ORDERED, 'prefix'],
    takes: 'text',
    schema: { type: 'string' },
    issue: () => undefined,
    value: (text) => text,
  },
  integer: {
    operators: ORDERED,
    takes: 'a whole number within ±(2^53−1)',
    schema: integerSchema(INTEGERS.min, INTEGERS.max),
    issue: (text) => wholeNumberIssue(text, INTEGERS),
    // Turns -0 into 0.
    value: (text) => Number(text) + 0,
  },
  instant: {
    operators: ORDERED,
    takes: 'a time such as 2030-01-31T00:00:00Z (RFC 3339; in a query + is written %2B)',
    schema: { type: 'string', format: 'date-time' },
    issue: (text) => (parseInstant(text) === undefined ? 'invalid_format' : undefined),
    value: (text) => parseInstant(text) ?? Number.NaN,
  },
};
