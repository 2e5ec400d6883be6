import {
  BY_ID,
  type ListQuery,
  type SortKey,
  type SortOrder,
} from '../../../../application/ports/list-query.js';
import { type FieldSpecs, sortableFields } from '../../../../domain/fields.js';
import { TextCache } from '../../../../shared/text-cache.js';
import type { Parameter, Parameters, Query } from '../core/parameter.js';
import type { ListedResource } from '../core/resource-definition.js';
import { Filters } from '../parameters/filters.js';
import { invalid, nameListIssues, wholeNumberIssue } from '../parameters/query.js';
import {
  type Cursor,
  cursorMismatch,
  cursorParameter,
  decodeCursor,
  foreignCursor,
  isPositionIn,
  queryFingerprint,
} from './cursor.js';

/** The bounds of `limit`, and its value if a request has none. */
export const LIMITS = { min: 1, max: 1_000, default: 100 };

/** The parameter `limit`. */
export function limitParameter(limits: typeof LIMITS, description: string): Parameter {
  const { min: minimum, max: maximum, default: standard } = limits;
  return {
    name: 'limit',
    issues: (text) => {
      const code = wholeNumberIssue(text, limits);
      return code ? [invalid('limit', code, `takes a whole number from ${minimum} to ${maximum}`)] : [];
    },
    docs: { description, schema: { type: 'integer', minimum, maximum, default: standard }, example: 20 },
  };
}

const LIMIT = limitParameter(
  LIMITS,
  'The most records that a page may have. With `Accept: application/x-ndjson` or `text/csv` and without `limit`, the whole list is sent.',
);

const CURSOR =
  'A place in the list, taken from a URL in `Link`. Follow those URLs as they are; do not build them. A cursor is valid only for the same list, order and filters.';

/** Parses the query of a list, except the parameter `fields`. */
export class ListQueryParser {
  readonly parameters: Parameters;
  private readonly filters: Filters;
  /** Each request reads its cursor twice. */
  private readonly cursors = new TextCache<Cursor | undefined>();

  /**
   * @param list the name of the list, so that cursors of other lists are rejected
   * @param fields the parameter `fields`, if the list has it
   */
  constructor(
    private readonly list: string,
    private readonly resource: ListedResource,
    fields?: Parameter,
  ) {
    this.filters = new Filters(resource);
    const cursor = cursorParameter(CURSOR, (text) => this.cursor(text) !== undefined);
    this.parameters = this.filters.with(
      [LIMIT, cursor, sortParameter(resource.fields)],
      [fields ?? []].flat(),
    );
  }

  /**
   * @param parameters valid parameters
   * @throws HttpError `cursor_mismatch`, `invalid_cursor`
   */
  read(parameters: Query): ListQuery {
    const limit = Number(parameters.get('limit') ?? LIMITS.default);
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

  private cursor(text: string): Cursor | undefined {
    return this.cursors.get(text, () => decodeCursor(this.list, text));
  }
}

/** The parameter `sort`, such as `sort=name,-id`. Takes fields with one value. A minus sign reverses the order. */
function sortParameter(fields: FieldSpecs): Parameter {
  const sortable = sortableFields(fields);
  return {
    name: 'sort',
    isList: true,
    issues: (text) => {
      const names = parseKeys(text).map(({ field }) => field);
      const isRepeated = new Set(names).size < names.length;
      return [
        ...nameListIssues('sort', names, sortable),
        ...(isRepeated ? [invalid('sort', 'duplicate_value', 'names a field more than once')] : []),
      ];
    },
    docs: {
      description:
        'The fields to sort by, the most important first; `-` before one reverses it. Records without it come last; ties break by `id`.',
      schema: {
        type: 'array',
        minItems: 1,
        maxItems: sortable.length,
        items: { type: 'string', enum: sortable.flatMap((name) => [name, `-${name}`]) },
      },
      example: [sortable.includes('name') ? 'name' : 'createdAt', '-id'],
    },
  };
}

/** Parses a valid `sort`. Ties are broken by id, so keys after the id are dropped. */
function readOrder(text: string | undefined): SortOrder {
  if (text === undefined) return BY_ID;
  const keys = parseKeys(text);
  const id = keys.findIndex(({ field }) => field === 'id');
  return id < 0 ? [...keys, ...BY_ID] : keys.slice(0, id + 1);
}

function parseKeys(text: string): SortKey[] {
  return text.split(',').map((key) => {
    const descending = key.startsWith('-');
    return { field: descending ? key.slice(1) : key, descending };
  });
}
