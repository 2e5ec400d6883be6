import { uniqueFields } from '../../../../domain/fields.js';
import { HttpError, invalidParameters, parameterIssue } from '../core/http-error.js';
import { CSV } from '../core/media-types.js';
import {
  type Parameter,
  type ParameterDocs,
  type Parameters,
  parametersOf,
  type Query,
} from '../core/parameter.js';
import type { ResourceDefinition } from '../core/resource-definition.js';
import { invalid } from '../parameters/query.js';

/** What an import does with the records that exist, and whether it writes anything. */
export interface ImportMode {
  /** Absent: each line is a new record. */
  readonly match?: Match;
  readonly isDryRun: boolean;
}

export interface Match {
  /** `id`, or a unique field. */
  readonly field: string;
  /** What a line does to a record that has its key: RFC 7396, a replacement as by PUT, or nothing. */
  readonly existing: 'merge' | 'replace' | 'skip';
  /** Whether an empty cell of CSV removes the value under `merge`. */
  readonly clears: boolean;
}

/** A parameter that takes one of these values; the one that it has if a request has none. */
function oneOf(
  name: string,
  values: readonly string[],
  docs: Omit<ParameterDocs, 'schema'>,
  standard?: string,
): Parameter {
  return {
    name,
    issues: (value) =>
      values.includes(value) ? [] : [invalid(name, 'invalid_format', `takes ${values.join(', ')}`)],
    docs: { ...docs, schema: { type: 'string', enum: values, default: standard } },
  };
}

const EXISTING = oneOf(
  'existing',
  ['merge', 'replace', 'skip'] satisfies Match['existing'][],
  {
    description:
      'What a line does to the record that it finds. `merge`: JSON Merge Patch (RFC 7396), what is left out stays; `replace`: as PUT; `skip`: nothing. It needs `match`.',
    example: 'merge',
  },
  'merge',
);

const EMPTY = oneOf(
  'empty',
  ['keep', 'clear'],
  {
    description:
      'What an empty cell of CSV does under `merge`. `keep`: nothing; `clear`: as `null` in JSON, it removes the value. It needs `match` and CSV.',
    example: 'clear',
  },
  'keep',
);

const DRY_RUN = oneOf(
  'dryRun',
  ['true', 'false'],
  {
    description: 'With `true`, the results are the same, and nothing is written. A new record has no id.',
    example: 'true',
  },
  'false',
);

/** The parameters of the imports of a resource. */
export class ImportParameters {
  readonly fields: readonly string[];
  readonly table: Parameters;

  constructor({ fields }: Pick<ResourceDefinition<never>, 'fields'>) {
    this.fields = ['id', ...uniqueFields(fields)];
    const match = oneOf('match', this.fields, {
      description:
        'The field by which a line finds its record. A record that has the value is changed as `existing` says; where none has it, one is created, but not by `id`. Absent: each line creates a record.',
      example: this.fields.at(-1),
    });
    this.table = parametersOf(match, EXISTING, EMPTY, DRY_RUN);
  }

  /**
   * @param query a valid query
   * @param hasCells whether the body is CSV
   * @throws HttpError `invalid_parameter` for `existing` and `empty` without what they need
   */
  read(query: Query, hasCells: boolean): ImportMode {
    const field = query.get('match');
    const existing = query.get('existing') as Match['existing'] | undefined;
    const lacking = [
      ...(field === undefined
        ? ['existing', 'empty'].map((name) => invalid(name, 'required', 'needs match'))
        : []),
      ...(hasCells ? [] : [invalid('empty', 'required', `needs ${CSV}; in JSON, null removes a value`)]),
    ].filter(({ name }) => query.has(name));
    if (lacking.length > 0) throw invalidParameters(lacking.map((issue) => ['invalid_parameter', issue]));
    const clears = query.get('empty') === 'clear';
    return {
      isDryRun: query.get('dryRun') === 'true',
      ...(field !== undefined && { match: { field, existing: existing ?? 'merge', clears } }),
    };
  }
}

/** Whether the results of an import show records that exist, so that it is also a way to read them. */
export function showsRecords(querystring: string): boolean {
  const parameters = new URLSearchParams(querystring);
  return parameters.has('match') || parameters.getAll('dryRun').includes('true');
}

/** @throws HttpError `invalid_idempotency_key` if there is a key, which such an import does not need */
export function refuseKey(key: string | undefined, { match, isDryRun }: ImportMode): void {
  if (key === undefined || !(match || isDryRun)) return;
  const message = `An import with ${match ? 'match' : 'dryRun'} takes no Idempotency-Key: to repeat it is harmless.`;
  throw new HttpError('invalid_idempotency_key', message, [
    parameterIssue('header', 'Idempotency-Key', 'invalid_format', message),
  ]);
}
