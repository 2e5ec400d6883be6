import type { AnySchema } from '../../docs/openapi.js';
import type { References } from '../../docs/references.js';
import { amountText, isPrice, type NumberProblem, typedAmount, typedNumber, typedText } from '../formats.js';
import { isObject, type Json, type JsonObject, member, pointerTo } from './json.js';

/** The form of a value. */
interface FieldBase {
  readonly name: string;
  readonly isRequired: boolean;
}
export interface TextField extends FieldBase {
  readonly kind: 'text';
  readonly isMultiline: boolean;
  /** Whether an empty text is a value, which differs from no value. */
  readonly allowsEmpty: boolean;
}
/** One of a few texts, or none. */
export interface ChoiceField extends FieldBase {
  readonly kind: 'choice';
  readonly values: readonly string[];
}
export interface NumberField extends FieldBase {
  readonly kind: 'number';
  readonly isInteger: boolean;
}
export interface ObjectField extends FieldBase {
  readonly kind: 'object';
  readonly fields: readonly Field[];
}
/** An amount, which a person types in the major unit of the currency, and the currency. */
export interface PriceField extends FieldBase {
  readonly kind: 'price';
  readonly fields: readonly Field[];
}
/** Any keys, whose values are texts, numbers or booleans. */
export interface MapField extends FieldBase {
  readonly kind: 'map';
}
/** Texts that a person types as chips. */
export interface ChipsField extends FieldBase {
  readonly kind: 'chips';
  /** The characters that no text has, so that they separate several texts. */
  readonly separators: string;
}
export interface ListField extends FieldBase {
  readonly kind: 'list';
  /** Those of an element. An element that is no object has one, and is its value. */
  readonly fields: readonly Field[];
  readonly hasObjects: boolean;
}
export type Field =
  | TextField
  | ChoiceField
  | NumberField
  | ObjectField
  | PriceField
  | MapField
  | ChipsField
  | ListField;

/** What a person typed. A number is kept as its text; null is a text field without a value. */
export type FormValue = string | null | FormValues | ChipsValue | readonly MapRow[] | readonly ListRow[];
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
export const newListRow = ({ fields }: ListField): ListRow => ({
  rowId: ++lastRowId,
  values: formOf(fields, {}),
});

/** @param input the schema of the body that creates a record */
export function formFields(input: AnySchema | undefined, references: References): readonly Field[] {
  const { properties = {}, required = [] } = references.schema(input);
  return Object.entries(properties).map(([name, schema]) => fieldOf(name, required.includes(name), schema, references));
}

/** @throws Error for a schema that no field can show, so that no field of a record is missing unnoticed */
function fieldOf(name: string, isRequired: boolean, schema: AnySchema, references: References): Field {
  const found = references.schema(schema);
  const base = { name, isRequired };
  if (found.type === 'integer' || found.type === 'number')
    return { ...base, kind: 'number', isInteger: found.type === 'integer' };
  if (found.enum) return { ...base, kind: 'choice', values: found.enum.map(String) };
  if (found.type === 'string')
    return {
      ...base,
      kind: 'text',
      isMultiline: found.pattern === undefined || new RegExp(found.pattern, 'u').test('a\nb'),
      allowsEmpty: !isRequired && !found.minLength && new RegExp(found.pattern ?? '', 'u').test(''),
    };
  if (found.type === 'array') {
    const { type, pattern = '', properties } = references.schema(found.items);
    if (type === 'string') return { ...base, kind: 'chips', separators: separatorsOf(pattern) };
    const hasObjects = properties !== undefined;
    const element = () => fieldOf(name, true, found.items ?? {}, references);
    return {
      ...base,
      kind: 'list',
      fields: hasObjects ? formFields(found.items, references) : [element()],
      hasObjects,
    };
  }
  if (found.properties) {
    const fields = formFields(schema, references);
    return isPriceOf(fields)
      ? { ...base, kind: 'price', fields: fields.map((one) => ({ ...one, isRequired })) }
      : { ...base, kind: 'object', fields };
  }
  if (found.patternProperties) return { ...base, kind: 'map' };
  throw new Error(`No form field can show ${name}`);
}

function separatorsOf(pattern: string): string {
  const rule = new RegExp(pattern, 'u');
  return [...',|;\n\t'].filter((one) => !rule.test(`a${one}b`)).join('');
}

function isPriceOf(fields: readonly Field[]): boolean {
  const kinds = Object.fromEntries(fields.map(({ name, kind }) => [name, kind]));
  return fields.length === 2 && kinds['amount'] === 'number' && kinds['currency'] === 'text';
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
    case 'object':
      return formOf(field.fields, isObject(value) ? value : {});
    case 'price':
      return isPrice(value)
        ? { amount: amountText(value.amount, value.currency), currency: value.currency }
        : { amount: '', currency: '' };
    case 'map':
      return Object.entries(isObject(value) ? value : {}).map(([key, one]) => mapRow(key, one));
    case 'chips':
      return { texts: (Array.isArray(value) ? value : []).map(String), typed: '' };
    case 'list':
      return (Array.isArray(value) ? value : []).map((one: Json) => ({
        rowId: ++lastRowId,
        values: formOf(field.fields, field.hasObjects ? (one as JsonObject) : { [field.name]: one }),
      }));
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

export interface FormBody {
  readonly body: JsonObject;
  /** While there are any, the body must not be sent. */
  readonly problems: readonly FormProblem[];
}

export function bodyOf(fields: readonly Field[], values: FormValues): FormBody {
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
  switch (field.kind) {
    case 'text':
      return value === '' && !field.allowsEmpty ? undefined : ((value as string | null) ?? undefined);
    case 'choice':
      return (value as string) || undefined;
    case 'number':
      return value === '' || value === null
        ? undefined
        : numberOrProblem(typedNumber(value as string, field.isInteger), pointer, problems);
    case 'object': {
      const object = objectOf(field.fields, value as FormValues, pointer, problems);
      return Object.keys(object).length === 0 && !field.isRequired ? undefined : object;
    }
    case 'price': {
      const price = priceOf(value as FormValues, pointer, problems);
      return Object.keys(price).length === 0 && !field.isRequired ? undefined : price;
    }
    case 'map':
      return mapOf(value as readonly MapRow[], pointer, problems);
    case 'chips': {
      const texts = withTyped(value as ChipsValue, field);
      return texts.length === 0 && !field.isRequired ? undefined : texts;
    }
    case 'list': {
      const rows = value as readonly ListRow[];
      return rows.length === 0 && !field.isRequired
        ? undefined
        : rows.map(({ values }, at) => elementOf(field, values, pointer + pointerTo(at), problems));
    }
  }
}

/** An element that has no value is sent as null, so that the service refuses it. */
function elementOf(
  { fields, hasObjects }: ListField,
  values: FormValues,
  pointer: string,
  problems: FormProblem[],
): Json {
  if (hasObjects) return objectOf(fields, values, pointer, problems);
  const [element] = fields as [Field];
  return jsonOf(element, values[element.name] ?? null, pointer, problems) ?? null;
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
