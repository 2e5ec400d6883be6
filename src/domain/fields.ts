import { type Id, MAX_ID } from './record.js';
import { foldCase, type TextRule } from './text.js';

/** The options of a field of any kind. */
interface FieldOptions {
  /** What the value means, for readers of the documents. A sentence without its full stop; its rule follows. */
  readonly description: string;
  /** Every record has a value. */
  readonly required?: true;
  /**
   * Lists can be filtered by the field, and sorted by it if it has one value. Stores keep an index. Of a list of texts, the
   * index has each element. `presence`: lists can be filtered only by whether there is a value, and no store has an index.
   */
  readonly indexed?: true | 'presence';
  /** Clients count records by the values of the field. It is indexed. */
  readonly faceted?: true;
  /** No two records share a value. */
  readonly unique?: true;
  /** `A` to `Z` equal `a` to `z` in every comparison. The order of values is case-sensitive. */
  readonly ignoresCase?: true;
  /**
   * Texts of at most so many digits are compared, for equality alone, with zeros put before them up to this number. The
   * order of values is that of the texts.
   */
  readonly paddedTo?: number;
  /** No value holds a space, and some hold `+`. A space in a query is then a `+` that was not encoded. */
  readonly spaceless?: true;
  /** A search finds the record by the words of the field. */
  readonly searched?: true;
  /** Records that share a value are variants of one another, of which lists can show one. A text that is indexed. */
  readonly groupsVariants?: true;
}

export interface TextField extends FieldOptions, TextRule {
  readonly kind: 'text';
  readonly example: string;
}

/** A text of one fixed form. The pattern implies its length. */
export interface CodeField extends FieldOptions {
  readonly kind: 'code';
  readonly pattern: RegExp;
  /** Whether a text that matches the pattern is valid. Absent: it is. */
  readonly isValid?: (text: string) => boolean;
  /** What is wrong with an invalid text, if that is known; a sentence without its full stop. */
  readonly mistake?: (text: string) => string | undefined;
  /** The form in words; completes "must be": `three capital letters, such as EUR`. */
  readonly form: string;
  readonly example: string;
}

/** A text of a closed list. The first one is its example. */
export interface ChoiceField extends FieldOptions {
  readonly kind: 'choice';
  readonly values: readonly string[];
  /** What clients may write for no value, in bodies and filters. No response has it. The field is optional. */
  readonly noValue?: string;
}

export interface IntegerField extends FieldOptions {
  readonly kind: 'integer';
  readonly min: number;
  readonly max: number;
  /** The member of the same object that names the currency, if this is an amount of money in its smallest unit. */
  readonly currency?: string;
  /** What the number counts; completes "in". */
  readonly unit?: string;
  readonly example: number;
}

/** The id of a record of another resource. The record must exist when a write adds the reference. */
export interface ReferenceField extends FieldOptions {
  readonly kind: 'reference';
  /** The name of the resource's table. If there is no such table, the service does not start. */
  readonly to: string;
}

/** A moment in time: milliseconds since 1970 in a record, RFC 3339 in a body. */
export interface InstantField extends FieldOptions {
  readonly kind: 'instant';
  /** The limits of a moment that clients send, in words. */
  readonly limits?: string;
  /** As in a body. */
  readonly example: string;
}

export type AttributeValue = string | number | boolean;

/** Values under keys that the client chooses. Keys are data: `.`, `$` and `:` have no meaning in them. */
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** An object whose keys the client chooses. */
export interface AttributesField extends FieldOptions {
  readonly kind: 'attributes';
  readonly example: Attributes;
}

export interface ObjectField extends FieldOptions {
  readonly kind: 'object';
  readonly fields: FieldTable;
}

export interface ListField extends FieldOptions {
  readonly kind: 'list';
  readonly of: Field;
  readonly min: number;
  readonly max: number;
  /** The path inside an element to the value that no two elements share; empty for the element itself. Absent: none. */
  readonly distinct?: readonly string[];
  /** In CSV each element is a row. Absent: the list is one cell of JSON, or of texts with the {@link separator}. */
  readonly rows?: true;
  /**
   * What stands between the elements in a cell of CSV, if they are texts. Objects may be written as the URLs that
   * {@link distinct} names, with it between them. No such text has it.
   */
  readonly separator?: string;
}

export type Field =
  | TextField
  | CodeField
  | ChoiceField
  | IntegerField
  | ReferenceField
  | InstantField
  | AttributesField
  | ObjectField
  | ListField;

/** The fields of an entity, in the order in which clients see them. An entity is described by this table alone. */
export type FieldTable = Readonly<Record<string, Field>>;

export type Path = readonly (string | number)[];

/** The TypeScript type of an entity with these fields. */
export type FieldsOf<Table extends FieldTable> = {
  readonly [Name in keyof Table as Table[Name] extends { required: true } ? Name : never]: ValueOf<Table[Name]>;
} & {
  readonly [Name in keyof Table as Table[Name] extends { required: true } ? never : Name]?: ValueOf<Table[Name]>;
};

export type ValueOf<F> = F extends { kind: 'text' | 'code' }
  ? string
  : F extends { kind: 'integer' | 'reference' | 'instant' }
    ? number
    : F extends { kind: 'choice'; values: readonly (infer Choice)[] }
      ? Choice
      : F extends { kind: 'attributes' }
        ? Attributes
        : F extends { kind: 'object'; fields: infer Table extends FieldTable }
          ? FieldsOf<Table>
          : F extends { kind: 'list'; of: infer Element }
            ? readonly ValueOf<Element>[]
            : never;

/** Valid fields of an entity, as a body has them, with a value for each field. */
export function exampleOf(table: FieldTable): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(table).map(([name, field]) => [name, exampleValue(field)]));
}

function exampleValue(field: Field): unknown {
  switch (field.kind) {
    case 'choice':
      return field.values[0];
    case 'reference':
      return 1;
    case 'object':
      return exampleOf(field.fields);
    case 'list':
      return [exampleValue(field.of)];
    default:
      return field.example;
  }
}

/** An indexed field, as lists and stores need it. */
export interface FieldSpec {
  /**
   * `instant`: milliseconds since 1970-01-01T00:00:00Z. `attributes`: an object of keys that are data. `presence`: of
   * any type; lists ask only whether there is a value.
   */
  readonly type: 'text' | 'integer' | 'instant' | 'attributes' | 'presence';
  /** A list, whose elements are of the type. A comparison matches if an element does. There is no order. */
  readonly isList?: true;
  /** Every record has a value. */
  readonly required?: true;
  /** Clients count records by its values. */
  readonly faceted?: true;
  /** No two records share a value. */
  readonly unique?: true;
  /** Names a record of another resource. Clients list the records that name it, newest first. */
  readonly reference?: true;
  /** `A` to `Z` equal `a` to `z` in every comparison. The order of values is case-sensitive. */
  readonly ignoresCase?: true;
  /** Digits of equal numbers are equal, up to so many. The order of values is that of the texts. */
  readonly paddedTo?: number;
  /** No value holds a space, and some hold `+`. */
  readonly spaceless?: true;
  /** Records that share a value are variants of one another. */
  readonly groupsVariants?: true;
  /** What a number counts; completes "in". */
  readonly unit?: string;
  /** Every value that there is. Absent: any of the type. */
  readonly choices?: readonly string[];
  /** What a filter may name for no value. */
  readonly noValue?: string;
}

/** By name; a field of an object inside the record is named with a dot: `price.amount`. */
export type FieldSpecs = Readonly<Record<string, FieldSpec>>;

/** The service's own fields, which every record has. */
export const SYSTEM_FIELDS: FieldSpecs = {
  id: { type: 'integer', required: true, unique: true },
  createdAt: { type: 'instant', required: true },
  updatedAt: { type: 'instant', required: true },
};

const [EQUALITY, EQUALITY_AND_PREFIX] = [
  ['eq', 'ne', 'in'],
  ['eq', 'ne', 'in', 'prefix'],
] as const;

/** The operators that compare folded values of a field. Absent: it has no two spellings of one value. */
export function foldedOperators({ ignoresCase, paddedTo }: FieldSpec): readonly string[] | undefined {
  return ignoresCase ? EQUALITY_AND_PREFIX : paddedTo === undefined ? undefined : EQUALITY;
}

/** The one spelling of all values of a field that are equal. Stores keep it beside the value. */
export function foldedText({ ignoresCase, paddedTo = 0 }: FieldSpec, text: string): string {
  if (ignoresCase) return foldCase(text);
  return text.length < paddedTo && /^[0-9]+$/.test(text) ? text.padStart(paddedTo, '0') : text;
}

export function uniqueFields(fields: FieldSpecs): string[] {
  return Object.keys(fields).filter((name) => fields[name]?.unique);
}

/** The fields by which records are variants of one another. */
export function variantFields(fields: FieldSpecs): string[] {
  return Object.keys(fields).filter((name) => fields[name]?.groupsVariants);
}

/** The lists by whose elements clients filter. */
export function listFields(fields: FieldSpecs): string[] {
  return Object.keys(fields).filter((name) => fields[name]?.isList);
}

/** The attributes by whose values clients filter. */
export function attributeFields(fields: FieldSpecs): string[] {
  return Object.keys(fields).filter((name) => fields[name]?.type === 'attributes');
}

/** The fields by which lists can be sorted: those with one value. */
export function sortableFields(fields: FieldSpecs): string[] {
  return Object.entries({ ...SYSTEM_FIELDS, ...fields })
    .filter(([, { type, isList }]) => type !== 'attributes' && type !== 'presence' && !isList)
    .map(([name]) => name);
}

/** The empty values of the optional lists and attributes. An empty one is no value. */
export type EmptyValues = Readonly<Record<string, readonly never[] | Readonly<Record<string, never>>>>;

export function emptyValues(table: FieldTable): EmptyValues {
  return Object.fromEntries(
    Object.entries(table).flatMap(([name, { kind, required }]) => {
      if (required || (kind !== 'list' && kind !== 'attributes')) return [];
      return [[name, kind === 'list' ? [] : {}]];
    }),
  );
}

/** The fields by whose words a search finds an entity. They are no members of objects. */
export function searchedFields(table: FieldTable): string[] {
  return Object.keys(table).filter((name) => table[name]?.searched);
}

/** An object of an entity that holds an amount of money: the names of the object and of its members. */
export interface MoneyField {
  readonly field: string;
  readonly amount: string;
  readonly currency: string;
}

export function moneyFields(table: FieldTable): MoneyField[] {
  return Object.entries(table).flatMap(([field, object]) =>
    Object.entries(object.kind === 'object' ? object.fields : {}).flatMap(([amount, member]) =>
      member.kind === 'integer' && member.currency !== undefined ? [{ field, amount, currency: member.currency }] : [],
    ),
  );
}

/** The indexed fields of an entity, those inside objects too. */
export function indexedFields(table: FieldTable): FieldSpecs {
  return Object.fromEntries(Object.entries(table).flatMap(([name, field]) => indexedIn(name, field, true)));
}

/** @param isAlwaysPresent whether every record has the object around the field */
function indexedIn(name: string, field: Field, isAlwaysPresent: boolean): [string, FieldSpec][] {
  const isRequired = isAlwaysPresent && field.required === true;
  if (field.kind === 'object')
    return Object.entries(field.fields).flatMap(([member, inner]) => indexedIn(`${name}.${member}`, inner, isRequired));
  if (!field.indexed) return [];
  if (field.indexed === 'presence') return [[name, { type: 'presence' }]];
  if (field.kind === 'list') return [[name, listSpec(name, field)]];
  const { unique, ignoresCase, paddedTo, spaceless, faceted, groupsVariants } = field;
  const spec: FieldSpec = {
    type: INDEX_TYPES[field.kind],
    ...(isRequired && { required: true }),
    ...(faceted && { faceted }),
    ...(unique && { unique }),
    ...(ignoresCase && { ignoresCase }),
    ...(paddedTo !== undefined && { paddedTo }),
    ...(spaceless && { spaceless }),
    ...(groupsVariants && { groupsVariants }),
    ...(field.kind === 'reference' && { reference: true }),
    ...(field.kind === 'integer' && field.unit !== undefined && { unit: field.unit }),
    ...(field.kind === 'choice' && { choices: field.values }),
    ...(field.kind === 'choice' && field.noValue !== undefined && { noValue: field.noValue }),
  };
  return [[name, spec]];
}

function listSpec(name: string, { of: element, faceted }: ListField): FieldSpec {
  if (element.kind !== 'text') throw new Error(`The list ${name} cannot be indexed: its elements are no texts.`);
  return { type: 'text', isList: true, ...(faceted && { faceted }) };
}

const INDEX_TYPES: Readonly<Record<Exclude<Field['kind'], 'object' | 'list'>, FieldSpec['type']>> = {
  text: 'text',
  code: 'text',
  choice: 'text',
  integer: 'integer',
  reference: 'integer',
  instant: 'instant',
  attributes: 'attributes',
};

/** The bounds of an id that names another record. */
export const REFERENCE = { min: 1, max: MAX_ID } as const;

/** The id of a record of another resource, and its path in the entity. */
export interface Reference {
  /** The name of the resource's table. */
  readonly to: string;
  readonly id: Id;
  readonly path: Path;
}

/** No valid list is as long. The bound limits the work for an invalid one. */
const MAX_ELEMENTS = 1_000;

/** All references in an entity, in the order of the table. Values may be of any type: those that are no ids are skipped. */
export function referencesIn(table: FieldTable, entity: unknown, path: Path = []): Reference[] {
  return Object.entries(table).flatMap(([name, field]) =>
    referencesOf(field, memberValue(entity, name), [...path, name]),
  );
}

function referencesOf(field: Field, value: unknown, path: Path): Reference[] {
  if (field.kind === 'reference') return isReference(value) ? [{ to: field.to, id: value, path }] : [];
  if (field.kind === 'object') return referencesIn(field.fields, value, path);
  if (field.kind !== 'list' || !Array.isArray(value)) return [];
  return value.slice(0, MAX_ELEMENTS).flatMap((one, at) => referencesOf(field.of, one, [...path, at]));
}

export function isReference(value: unknown): value is Id {
  return typeof value === 'number' && isWithin(value, REFERENCE);
}

export function isWithin(value: number, { min, max }: { readonly min: number; readonly max: number }): boolean {
  return Number.isSafeInteger(value) && value >= min && value <= max;
}

export function memberValue(value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
}
