import type { ListQuery } from '../../../../application/ports/list-query.js';
import { TextCache } from '../../../../shared/text-cache.js';
import type { ParameterDescription } from '../core/description.js';
import type { ParameterIssue } from '../core/error-codes.js';
import { type HttpError, invalidParameters } from '../core/http-error.js';
import type { Parameter, Query } from '../core/parameter.js';
import type { ListedResource } from '../core/resource-definition.js';
import { invalid, wholeNumberIssue } from '../query/query.js';
import { type Cursor, decodeCursor, isPositionIn, queryFingerprint } from './cursor.js';
import { Filters } from './filters.js';
import { readOrder, sortDescription, sortParameter } from './sort.js';

export const DEFAULT_LIMIT = 100;
/** The bounds of `limit`. */
export const LIMITS = { min: 1, max: 1_000 };

export const LIMIT = limitParameter(LIMITS);

/** The parameter `limit`. */
export function limitParameter(limits: typeof LIMITS): Parameter {
  return {
    issues: (text) => {
      const code = wholeNumberIssue(text, limits);
      return code ? [invalid('limit', code, `takes a whole number from ${limits.min} to ${limits.max}`)] : [];
    },
  };
}

export const LIMIT_DESCRIPTION: ParameterDescription = {
  name: 'limit',
  description:
    'The most records that a page may have. With `Accept: application/x-ndjson` or `text/csv` and without `limit`, the whole list is sent.',
  schema: { type: 'integer', minimum: LIMITS.min, maximum: LIMITS.max, default: DEFAULT_LIMIT },
  example: 20,
};

export const CURSOR_DESCRIPTION: ParameterDescription = {
  name: 'cursor',
  description:
    'A place in the list, taken from a URL in `Link`. Follow those URLs as they are; do not build them. A cursor is valid only for the same list, order and filters.',
  schema: { type: 'string', pattern: '^[A-Za-z0-9_-]+$' },
  example: 'eyJhZnRlciI6MTAwfQ',
};

/** Parses the query of a list, except the parameter `fields`. */
export class ListQueryParser {
  private readonly filters: Filters;
  private readonly ownParameters: ReadonlyMap<string, Parameter>;
  /** Each request reads its cursor twice. */
  private readonly cursors = new TextCache<Cursor | undefined>();

  /** @param list the name of the list, so that cursors of other lists are rejected */
  constructor(
    private readonly list: string,
    private readonly resource: ListedResource,
  ) {
    this.filters = new Filters(resource);
    this.ownParameters = new Map([
      ['limit', LIMIT],
      ['cursor', { code: 'invalid_cursor', issues: (text) => this.cursorIssues(text) }],
      ['sort', sortParameter(resource.fields)],
    ]);
  }

  /** The documentation of the parameters that are no filters. */
  get descriptions(): ParameterDescription[] {
    return [LIMIT_DESCRIPTION, CURSOR_DESCRIPTION, sortDescription(this.resource.fields)];
  }

  parameter(name: string): Parameter | undefined {
    return this.ownParameters.get(name) ?? this.filters.parameter(name);
  }

  /** Returns the names of the parameters that there are, or how to write a filter of a field. */
  parameterNames(unknown: string): string {
    const own = [...this.ownParameters.keys(), 'fields'].join(', ');
    return this.filters.hintFor(unknown) ?? `there are ${own}, ${this.filters.names}`;
  }

  /**
   * @param parameters valid parameters
   * @throws HttpError `cursor_mismatch`, `invalid_cursor`
   */
  read(parameters: Query): ListQuery {
    const limit = Number(parameters.get('limit') ?? DEFAULT_LIMIT);
    const filters = this.filters.read(parameters);
    const order = readOrder(parameters.get('sort'));
    const query = { limit, filters, order };
    const text = parameters.get('cursor');
    const cursor = text === undefined ? undefined : this.cursor(text);
    return cursor ? { ...query, from: this.position(cursor, query) } : query;
  }

  private position({ position, fingerprint }: Cursor, query: ListQuery): NonNullable<ListQuery['from']> {
    if (fingerprint !== queryFingerprint(query)) throw cursorMismatch('another sort or filter');
    if (isPositionIn(query.order, this.resource.fields, position)) return position;
    throw foreignCursor();
  }

  private cursorIssues(text: string): readonly ParameterIssue[] {
    return this.cursor(text) ? [] : FOREIGN_CURSOR;
  }

  private cursor(text: string): Cursor | undefined {
    return this.cursors.get(text, () => decodeCursor(this.list, text));
  }
}

/** @param owner what the cursor belongs to instead */
export function cursorMismatch(owner: string): HttpError {
  return invalidParameters([['cursor_mismatch', invalid('cursor', 'invalid_format', `belongs to ${owner}`)]]);
}

export function foreignCursor(): HttpError {
  return invalidParameters(FOREIGN_CURSOR.map((issue) => ['invalid_cursor', issue]));
}

export const FOREIGN_CURSOR: readonly [ParameterIssue] = [
  invalid('cursor', 'invalid_format', 'was not issued by this list'),
];
