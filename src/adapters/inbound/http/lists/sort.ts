import { BY_ID, type Order, type SortKey } from '../../../../application/list-query.js';
import { type FieldSet, METADATA } from '../../../../domain/fields.js';
import { nameListFaults } from '../name-list.js';
import { invalid, type Parameter } from '../query.js';

/** `sort=name,-id`: by fields that every record has; a minus turns one around. */
export function sortParameter(fields: FieldSet): Parameter {
  const sortable = Object.entries({ ...METADATA, ...fields })
    .filter(([, { required }]) => required)
    .map(([name]) => name);
  return {
    faults: (text) => {
      const names = keysIn(text).map(({ field }) => field);
      const isRepeated = new Set(names).size < names.length;
      return [
        ...nameListFaults('sort', names, sortable),
        ...(isRepeated ? [invalid('sort', 'duplicate_value', 'names a field more than once')] : []),
      ];
    },
  };
}

/** Ties break by id; what follows the id has nothing left to decide. */
export function readOrder(text: string | undefined): Order {
  if (text === undefined) return BY_ID;
  const keys = keysIn(text);
  const id = keys.findIndex(({ field }) => field === 'id');
  return id < 0 ? [...keys, ...BY_ID] : keys.slice(0, id + 1);
}

function keysIn(text: string): SortKey[] {
  return text.split(',').map((key) => {
    const descending = key.startsWith('-');
    return { field: descending ? key.slice(1) : key, descending };
  });
}
