import type { Field, FieldTable, Path } from './fields.js';
import { type Id, MAX_ID } from './record.js';

/** The bounds of an id that names another record. */
export const REFERENCE = { min: 1, max: MAX_ID } as const;

/** The id of a record of another resource, and its path in the entity. */
export interface Reference {
  readonly id: Id;
  readonly path: Path;
}

/** All fields of an entity that name records of one resource. */
export interface ReferenceFinder {
  /** The name of the resource's table. */
  readonly to: string;
  /** The values may be of any type. Values that are not ids are skipped. */
  find(fields: unknown): Reference[];
}

/** One finder for each field that is a reference, in the order of the table. */
export function referenceFinders(table: FieldTable): ReferenceFinder[] {
  return memberFinders(table).map(({ to, collect }) => ({
    to,
    find: (fields) => {
      const found: Reference[] = [];
      collect(fields, [], found);
      return found;
    },
  }));
}

interface Collector {
  readonly to: string;
  collect(value: unknown, path: Path, found: Reference[]): void;
}

/** No valid list is as long. The bound limits the work for an invalid one. */
const MAX_ELEMENTS = 1_000;

function findersIn(field: Field): Collector[] {
  switch (field.kind) {
    case 'reference':
      return [
        {
          to: field.to,
          collect: (id, path, found) => {
            if (isReference(id)) found.push({ id, path });
          },
        },
      ];
    case 'object':
      return memberFinders(field.fields);
    case 'list':
      return findersIn(field.of).map(({ to, collect }) => ({
        to,
        collect: (list, path, found) => {
          if (!Array.isArray(list)) return;
          for (const [at, element] of list.slice(0, MAX_ELEMENTS).entries())
            collect(element, [...path, at], found);
        },
      }));
    default:
      return [];
  }
}

function memberFinders(table: FieldTable): Collector[] {
  return Object.entries(table).flatMap(([name, inner]) =>
    findersIn(inner).map(({ to, collect }) => ({
      to,
      collect: (object, path, found) => collect(memberValue(object, name), [...path, name], found),
    })),
  );
}

export function isReference(value: unknown): value is Id {
  return typeof value === 'number' && isWithin(value, REFERENCE);
}

export function isWithin(
  value: number,
  { min, max }: { readonly min: number; readonly max: number },
): boolean {
  return Number.isSafeInteger(value) && value >= min && value <= max;
}

export function memberValue(value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
}
