import type { AnySchema } from '../../docs/openapi.js';
import type { References } from '../../docs/references.js';
import {
  amountText,
  instantOf,
  isPrice,
  localOf,
  type NumberProblem,
  typedAmount,
  typedNumber,
  typedText,
} from '../formats.js';
import { isObject, type Json, type JsonObject, member, pointerTo } from './json.js';

interface FieldOf<Kind extends string> {
  readonly kind: Kind;
  readonly name: string;
  readonly isRequired: boolean;
}
export interface TextField extends FieldOf<'text'> {
  readonly isMultiline: boolean;
  /** Whether an empty text is a value, which differs from no value. */
  readonly allowsEmpty: boolean;
}
/** One of a few texts or none, or several of them. */
export interface ChoiceField extends FieldOf<'choice' | 'choices'> {
  readonly values: readonly string[];
}
interface NumberField extends FieldOf<'number'> {
  readonly isInteger: boolean;
}
/** Texts that a person types as chips. */
export interface ChipsField extends FieldOf<'chips'> {
  /** The characters that no text has, so that they separate several texts. */
  readonly separators: string;
}
/**
 * An amount, which a person types in the major unit of the currency, and the currency; or objects, of which these are
 * the fields.
 */
export interface ListField extends FieldOf<'price' | 'list'> {
  readonly fields: readonly Field[];
}
/** A moment, or any keys whose values are texts, numbers or booleans. */
type OtherField = FieldOf<'moment'> | FieldOf<'map'>;
/** The form of a value. */
export type Field = TextField | ChoiceField | NumberField | ChipsField | ListField | OtherField;

/** What a person typed. A number is kept as its text; null is a text field without a value. */
export type FormValue = string | null | FormValues | ChipsValue | readonly (string | MapRow | ListRow)[];
export interface FormValues {
  readonly [name: string]: FormValue;
}
export interface ChipsValue {
  readonly texts: readonly string[];
  /** What is no chip yet. It counts as if it were. */
  readonly typed: string;
}
interface Row {
  /** Tells rows apart while others are removed. */
  readonly rowId: number;
}
export interface MapRow extends Row {
  readonly key: string;
  readonly type: 'text' | 'number' | 'boolean';
  readonly text: string;
}
export interface ListRow extends Row {
  readonly values: FormValues;
}

/** What a form finds wrong itself, because no JSON could tell it to the service. */
export type FormProblem = { readonly pointer: string } & (NumberProblem | { readonly code: 'repeated_key' });

let lastRowId = 0;
export const newMapRow = (): MapRow => ({ rowId: ++lastRowId, key: '', type: 'text', text: '' });
export const newListRow = ({ fields }: ListField, record: JsonObject = {}): ListRow => ({
  rowId: ++lastRowId,
  values: formOf(fields, record),
});

/** @param input the schema of the body that creates a record */
export function formFields(input: AnySchema | undefined, references: References): readonly Field[] {
  const { properties = {}, required = [] } = references.schema(input);
  return Object.entries(properties).map(([name, schema]) => fieldOf(name, required.includes(name), schema, references));
}

/** @throws Error for a schema that no field can show, so that no field of a record is missing unnoticed */
function fieldOf(name: string, isRequired: boolean, schema: AnySchema, references: References): Field {
  const { type, format, enum: values, pattern, minLength, items, ...found } = references.schema(schema);
  const base = { name, isRequired };
  if (type === 'integer' || type === 'number') return { ...base, kind: 'number', isInteger: type === 'integer' };
  if (values) return { ...base, kind: 'choice', values: values.map(String) };
  if (format === 'date-time') return { ...base, kind: 'moment' };
  if (type === 'string') {
    const rule = new RegExp(pattern ?? '', 'u');
    return {
      ...base,
      kind: 'text',
      isMultiline: rule.test('a\nb'),
      allowsEmpty: !isRequired && !minLength && rule.test(''),
    };
  }
  const element = references.schema(items);
  if (element.enum) return { ...base, kind: 'choices', values: element.enum.map(String) };
  if (element.type === 'string') return { ...base, kind: 'chips', separators: separatorsOf(element.pattern ?? '') };
  if (element.properties) return { ...base, kind: 'list', fields: formFields(items, references) };
  const { amount, currency } = found.properties ?? {};
  if (amount && currency)
    return { ...base, kind: 'price', fields: formFields(schema, references).map((one) => ({ ...one, isRequired })) };
  if (found.patternProperties) return { ...base, kind: 'map' };
  throw new Error(`No form field can show ${name}`);
}

function separatorsOf(pattern: string): string {
  const rule = new RegExp(pattern, 'u');
  return [...',|;\n\t'].filter((one) => !rule.test(`a${one}b`)).join('');
}

export function formOf(fields: readonly Field[], record: JsonObject): FormValues {
  return Object.fromEntries(fields.map((field) => [field.name, formValue(field, member(record, field.name))]));
}

export function formValue(field: Field, value: Json | undefined): FormValue {
  switch (field.kind) {
    case 'text':
      return typeof value === 'string' ? value : field.allowsEmpty ? null : '';
    case 'choice':
      return value === undefined ? '' : String(value);
    case 'number':
      return value === undefined ? '' : typedText(Number(value));
    case 'moment':
      return localOf(String(value ?? ''));
    case 'choices':
      return (Array.isArray(value) ? value : []).map(String);
    case 'price':
      return isPrice(value)
        ? { amount: amountText(value.amount, value.currency), currency: value.currency }
        : { amount: '', currency: '' };
    case 'map':
      return Object.entries(isObject(value) ? value : {}).map(([key, one]) => mapRow(key, one));
    case 'chips':
      return { texts: (Array.isArray(value) ? value : []).map(String), typed: '' };
    case 'list':
      return (Array.isArray(value) ? value : []).map((one) => newListRow(field, one));
  }
}

function mapRow(key: string, value: Json): MapRow {
  const type = typeof value === 'string' ? 'text' : typeof value === 'number' ? 'number' : 'boolean';
  return { rowId: ++lastRowId, key, type, text: typeof value === 'number' ? typedText(value) : String(value) };
}

/** All texts of chips, of which none is there twice. */
export function withTyped({ texts, typed }: ChipsValue, { separators }: ChipsField): readonly string[] {
  const parts = [...typed].map((one) => (separators.includes(one) ? '\n' : one)).join('');
  const added = parts
    .split(/[\r\n]+/)
    .map((one) => one.trim())
    .filter((one) => one !== '');
  return [...texts, ...new Set(added.filter((one) => !texts.includes(one)))];
}

/** While there are problems, the body must not be sent. */
export function bodyOf(fields: readonly Field[], values: FormValues) {
  const problems: FormProblem[] = [];
  return { body: objectOf(fields, values, '', problems), problems };
}

function objectOf(fields: readonly Field[], values: FormValues, parent: string, problems: FormProblem[]): JsonObject {
  const members = fields.map((field) => {
    const pointer = parent + pointerTo(field.name);
    return [field.name, jsonOf(field, values[field.name] ?? null, pointer, problems)] as const;
  });
  return withoutMissing(members);
}

/** @returns undefined if the field has no value */
export function jsonOf(field: Field, value: FormValue, pointer: string, problems: FormProblem[]): Json | undefined {
  const unlessEmpty = (found: JsonObject | readonly Json[]) =>
    Object.keys(found).length === 0 && !field.isRequired ? undefined : found;
  switch (field.kind) {
    case 'text':
      return value === '' && !field.allowsEmpty ? undefined : ((value as string | null) ?? undefined);
    case 'choice':
      return (value as string) || undefined;
    case 'moment':
      return value ? instantOf(value as string) : undefined;
    case 'number':
      return value ? numberOrProblem(typedNumber(value as string, field.isInteger), pointer, problems) : undefined;
    case 'price':
      return unlessEmpty(priceOf(value as FormValues, pointer, problems));
    case 'map':
      return mapOf(value as readonly MapRow[], pointer, problems);
    case 'choices':
      return unlessEmpty(value as readonly string[]);
    case 'chips':
      return unlessEmpty(withTyped(value as ChipsValue, field));
    case 'list':
      return unlessEmpty(
        (value as readonly ListRow[]).map(({ values }, at) =>
          objectOf(field.fields, values, pointer + pointerTo(at), problems),
        ),
      );
  }
}

/** What lacks one half is sent, so that the service can ask for it. */
function priceOf({ amount, currency }: FormValues, pointer: string, problems: FormProblem[]): JsonObject {
  const [text, code] = [String(amount ?? '').trim(), String(currency ?? '')];
  const typed = text === '' ? undefined : typedAmount(text, code);
  const sent = numberOrProblem(typed, pointer + pointerTo('amount'), problems);
  return withoutMissing([
    ['amount', sent],
    ['currency', code === '' ? undefined : code],
  ]);
}

function numberOrProblem(
  typed: number | NumberProblem | undefined,
  pointer: string,
  problems: FormProblem[],
): number | undefined {
  if (typeof typed !== 'object') return typed;
  problems.push({ pointer, ...typed });
  return undefined;
}

/** A row in which nothing was typed counts for nothing. */
function mapOf(rows: readonly MapRow[], pointer: string, problems: FormProblem[]): JsonObject | undefined {
  const filled = rows.filter(({ key, text }) => key !== '' || text !== '');
  const keys = new Set<string>();
  const members = filled.map(({ key, type, text }) => {
    const own = pointer + pointerTo(key);
    if (keys.has(key)) problems.push({ pointer: own, code: 'repeated_key' });
    keys.add(key);
    if (type === 'text') return [key, text] as const;
    return [key, type === 'boolean' ? text === 'true' : numberOrProblem(typedNumber(text), own, problems)] as const;
  });
  return filled.length === 0 ? undefined : withoutMissing(members);
}

/** `Object.fromEntries` makes even `__proto__` a member, so that the service can refuse it. */
function withoutMissing(members: readonly (readonly [string, Json | undefined])[]): JsonObject {
  return Object.fromEntries(members.filter((one): one is [string, Json] => one[1] !== undefined));
}
