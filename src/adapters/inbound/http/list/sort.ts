import { BY_ID, type SortKey, type SortOrder } from '../../../../application/ports/list-query.js';
import { type FieldSpecs, sortableFields } from '../../../../domain/fields.js';
import type { ParameterDescription } from '../core/description.js';
import type { Parameter } from '../core/parameter.js';
import { invalid, nameListIssues } from '../query/query.js';

/** The parameter `sort`, such as `sort=name,-id`. Takes fields with one value. A minus sign reverses the order. */
export function sortParameter(fields: FieldSpecs): Parameter {
  const sortable = sortableFields(fields);
  return {
    isList: true,
    issues: (text) => {
      const names = parseKeys(text).map(({ field }) => field);
      const isRepeated = new Set(names).size < names.length;
      return [
        ...nameListIssues('sort', names, sortable),
        ...(isRepeated ? [invalid('sort', 'duplicate_value', 'names a field more than once')] : []),
      ];
    },
  };
}

export function sortDescription(fields: FieldSpecs): ParameterDescription {
  const names = sortableFields(fields);
  return {
    name: 'sort',
    description:
      'The fields to sort by, the most important first. A minus sign reverses the order of a field. Records without the field come last. Ties break by `id`.',
    schema: {
      type: 'array',
      minItems: 1,
      maxItems: names.length,
      items: { type: 'string', enum: names.flatMap((name) => [name, `-${name}`]) },
    },
    explode: false,
    example: [names.includes('name') ? 'name' : 'createdAt', '-id'],
  };
}

/** Parses a valid `sort`. Ties are broken by id, so keys after the id are dropped. */
export function readOrder(text: string | undefined): SortOrder {
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
