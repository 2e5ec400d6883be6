import { isDeepStrictEqual } from 'node:util';
import { AppError, fieldIssue, type Issue, MAX_ISSUES } from '../../domain/errors.js';
import {
  type EmptyValues,
  emptyValues,
  exampleOf,
  type Field,
  type FieldTable,
  type Reference,
  referencesIn,
} from '../../domain/fields.js';
import type { Id, Unvalidated, Versioned } from '../../domain/record.js';
import { issueIn } from '../../domain/validation.js';
import { isJsonObject, type JsonObject } from '../../shared/json.js';
import { applyJsonPatch } from '../patch/json-patch.js';
import { applyMergePatch, isMerged } from '../patch/merge-patch.js';
import type { Repository } from '../ports/repository.js';
import { type ResponseMapper, storedResponse } from './record-json.js';

/** How one version of the API shows the records of a resource, and how it reads bodies. */
export interface RecordFormat<Fields> {
  readonly present: ResponseMapper<Fields>;
  /**
   * Returns a body without what stands for no value: a null, as many programs write it, of an optional field or member, of
   * an attribute, and of one of the service's own fields; and what a choice has for it.
   */
  withoutNulls(sent: JsonObject): JsonObject;
  /** Where a JSON Patch may add to a list or an object that the record has not. */
  readonly empty: EmptyValues;
  /** Returns every issue of a body from which the service's own fields were removed. */
  validate(sent: JsonObject): readonly Issue[];
  /**
   * Returns the fields to store, in the order in which stores keep them. It keeps the fields of `current` that this
   * version does not show.
   * @param sent if it has issues, its values may be of any type
   * @param current the fields that the body changes; absent for a new record
   */
  toFields(sent: JsonObject, current?: Fields): JsonObject;
}

/** The fields of a record to create or to change, with every issue in them. */
export interface Draft<Fields> {
  /** Of the right types if there are no issues. */
  readonly fields: Unvalidated<Fields>;
  readonly issues: readonly Issue[];
}

export interface SentRecord {
  /** As it would be in JSON. */
  readonly body: unknown;
  /**
   * What is wrong with how the record is written, by the JSON Pointer to the value in the body: an issue that takes the
   * place of what is wrong with that value, or a sentence that follows each message about it.
   */
  readonly issues: IssuesOfText;
}

/**
 * Returns the record as it was sent.
 * @param stored the record that has its key
 */
export type SentBeside = (stored?: Versioned<unknown>) => SentRecord;

export type IssuesOfText = ReadonlyMap<string, Issue | string>;

/** A change of a record, as a client sent it. */
export type Change =
  | { readonly kind: 'replacement'; readonly body: unknown }
  /** RFC 7396 */
  | { readonly kind: 'merge-patch'; readonly body: unknown }
  /** RFC 6902 */
  | { readonly kind: 'json-patch'; readonly body: unknown };

const READ_ONLY = ['id', 'version', 'createdAt', 'updatedAt'] as const;

const NO_ISSUES: readonly Issue[] = [];

const NO_OBJECT: Draft<never> = {
  fields: {} as never,
  issues: [fieldIssue('invalid_type', [], 'must be a JSON object')],
};

/** Returns the service's own fields of a record, as clients see them, and how many records it stands for. */
export function metadata(
  record: Versioned<unknown>,
): Record<(typeof READ_ONLY)[number], unknown> & Pick<Versioned<unknown>, 'variants'> {
  return {
    id: record.id,
    version: record.version,
    createdAt: new Date(record.createdAt).toISOString(),
    updatedAt: new Date(record.updatedAt).toISOString(),
    ...(record.variants !== undefined && { variants: record.variants }),
  };
}

/** Returns the draft of a new record. Each of the service's own fields in the body is an issue. */
export function newDraft<Fields>(view: RecordFormat<Fields>, body: unknown): Draft<Fields> {
  if (!isJsonObject(body)) return NO_OBJECT;
  const sent = view.withoutNulls(body);
  return draftOf(view, sent, readOnlyIssues(sent));
}

/**
 * Returns the draft of a changed record. The body may contain the service's own fields if they are unchanged.
 * @throws AppError `invalid_patch`, `patch_test_failed`
 */
export function changedDraft<Fields>(
  view: RecordFormat<Fields>,
  change: Change,
  current: Versioned<Fields>,
): Draft<Fields> {
  const { kind, body } = change;
  const shown = kind === 'replacement' ? {} : view.present(current);
  const sent = kind === 'json-patch' ? applyJsonPatch(shown, body, view.empty) : body;
  if (!isJsonObject(sent)) return NO_OBJECT;
  const own = kind === 'replacement' ? view.withoutNulls(sent) : sent;
  // The record shows its id, so what a JSON Patch leaves without one has removed it.
  const issues = readOnlyIssues(kind === 'json-patch' ? { id: undefined, ...own } : own, current);
  const result = kind === 'merge-patch' ? (applyMergePatch(shown, own) as JsonObject) : own;
  return draftOf(view, view.withoutNulls(result), issues, current);
}

/**
 * Returns the draft of a record as it was sent under a key.
 * @param existing what happens to a record that has the key: RFC 7396, a replacement as by PUT, or nothing
 * @returns undefined if a record stays as it is; only a draft shows this for some changes
 */
export function sentDraft<Fields>(
  view: RecordFormat<Fields>,
  existing: 'merge' | 'replace' | 'skip',
  sent: SentBeside,
): (current?: Versioned<Fields>) => Draft<Fields> | undefined {
  const kind = existing === 'replace' ? 'replacement' : 'merge-patch';
  return (current) => {
    const { body, issues } = sent(current);
    if (!current) return withIssuesOfText(newDraft(view, body), issues);
    if (existing === 'skip') {
      const readOnly = isJsonObject(body) ? readOnlyIssues(body, current) : NO_OBJECT.issues;
      return { fields: current.fields as Unvalidated<Fields>, issues: readOnly };
    }
    if (issues.size === 0 && isWithoutEffect(view, { kind, body }, current)) return undefined;
    return withIssuesOfText(changedDraft(view, { kind, body }, current), issues);
  };
}

function draftOf<Fields>(
  view: RecordFormat<Fields>,
  sent: JsonObject,
  readOnly: readonly Issue[],
  current?: Versioned<Fields>,
): Draft<Fields> {
  const own = withoutReadOnly(sent);
  const issues = view.validate(own);
  return {
    fields: view.toFields(own, current?.fields) as Unvalidated<Fields>,
    issues: readOnly.length === 0 ? issues : [...readOnly, ...issues],
  };
}

/** @param ofText see {@link SentRecord.issues} */
export function withIssuesOfText<Fields>(draft: Draft<Fields>, ofText: IssuesOfText): Draft<Fields> {
  if (ofText.size === 0) return draft;
  const issues = draft.issues.map((issue) => {
    const found = ofText.get(issue.pointer) ?? issue;
    return typeof found === 'string' ? { ...issue, message: `${issue.message} ${found}` } : found;
  });
  const others = [...ofText.values()].filter((one) => typeof one !== 'string');
  return { ...draft, issues: [...new Set([...issues, ...others])] };
}

/**
 * Whether a change leaves a record as it is shown. May be false for a change whose draft turns out to be the same
 * record, but takes a small part of the time that validating takes.
 */
function isWithoutEffect<Fields>(
  view: RecordFormat<Fields>,
  { kind, body }: MergeOrReplacement,
  current: Versioned<Fields>,
): boolean {
  if (!isJsonObject(body)) return false;
  const sent = kind === 'replacement' ? view.withoutNulls(body) : body;
  if (readOnlyIssues(sent, current).length > 0) return false;
  const shown = withoutReadOnly(view.present(current));
  const own = withoutReadOnly(sent);
  return kind === 'replacement' ? isDeepStrictEqual(own, shown) : isMerged(shown, own);
}

type MergeOrReplacement = Exclude<Change, { readonly kind: 'json-patch' }>;

const OMITTED_OR_SAME = 'is given by the service: leave it out, or in a PUT or PATCH send its stored value';

/** @param current absent for a new record, in which each of the fields is an issue */
function readOnlyIssues(sent: JsonObject, current?: Versioned<unknown>): readonly Issue[] {
  if (!hasReadOnly(sent)) return NO_ISSUES;
  const stored: JsonObject = current ? metadata(current) : {};
  return READ_ONLY.filter((field) => Object.hasOwn(sent, field) && sent[field] !== stored[field]).map((field) =>
    fieldIssue('read_only_field', [field], OMITTED_OR_SAME),
  );
}

function withoutReadOnly(sent: JsonObject): JsonObject {
  if (!hasReadOnly(sent)) return sent;
  const { id: _id, version: _version, createdAt: _createdAt, updatedAt: _updatedAt, ...rest } = sent;
  return rest;
}

function hasReadOnly(sent: JsonObject): boolean {
  return READ_ONLY.some((field) => Object.hasOwn(sent, field));
}

/** Makes {@link RecordFormat.present} for these fields. A stored field that is not in the table is never shown. */
export function responseMapper<Fields>(table: FieldTable): ResponseMapper<Fields> {
  const read = objectReader(table);
  const present = (record: Versioned<Fields>) => ({ id: record.id, ...read(record.fields as JsonObject) });
  return Object.assign(present, { storedResponse: storedResponse(table) });
}

/**
 * Makes {@link RecordFormat.toFields} for a version whose fields have the names under which they are stored. The fields
 * come in the order of the table, so that their JSON text can be shown as it is stored. Empty optional lists and
 * attributes are no value. Fields of the current record
 * that are not in the table follow, also inside objects, because they belong to another version.
 */
export function fieldReader<Fields>(table: FieldTable): RecordFormat<Fields>['toFields'] {
  const read = objectReader(table, emptyValues(table));
  return (sent, current) => read(sent, current as JsonObject | undefined);
}

/** @param empty has the names of the fields of which an empty value is none */
function objectReader(
  table: FieldTable,
  empty: EmptyValues = {},
): (sent: JsonObject, current?: JsonObject) => JsonObject {
  const readers = Object.entries(table).map(([name, field]) => ({
    name,
    read: valueReader(field),
    canBeEmpty: Object.hasOwn(empty, name),
  }));
  return (sent, current) => {
    const fields: Record<string, unknown> = {};
    for (const { name, read, canBeEmpty } of readers) {
      const value = sent[name];
      if (value === undefined || (canBeEmpty && isEmpty(value))) continue;
      fields[name] = read ? read(value, current?.[name]) : value;
    }
    if (current) for (const name of Object.keys(current)) if (!Object.hasOwn(table, name)) fields[name] = current[name];
    return fields;
  };
}

function zeroOf(value: unknown): unknown {
  return value === 0 ? 0 : value;
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/**
 * Minus zero is zero, so that a body which changes nothing is seen to.
 * @returns undefined if the value is stored as it is sent; values may be of any type
 */
function valueReader(field: Field): ((sent: unknown, current: unknown) => unknown) | undefined {
  if (field.kind === 'object') {
    const read = objectReader(field.fields);
    return (sent, current) => (isJsonObject(sent) ? read(sent, isJsonObject(current) ? current : undefined) : sent);
  }
  if (field.kind === 'integer') return zeroOf;
  if (field.kind === 'attributes')
    return (sent) => {
      if (!isJsonObject(sent) || !Object.values(sent).includes(0)) return sent;
      return Object.fromEntries(Object.entries(sent).map(([key, value]) => [key, zeroOf(value)]));
    };
  const read = field.kind === 'list' ? valueReader(field.of) : undefined;
  return read && ((sent) => (Array.isArray(sent) ? sent.map((element) => read(element, undefined)) : sent));
}

/**
 * Makes {@link RecordFormat.withoutNulls} for these fields.
 * @param readOnly the names of further fields that the service alone sets
 */
export function nullRemover(
  table: FieldTable,
  readOnly: readonly string[] = [],
): RecordFormat<unknown>['withoutNulls'] {
  const remove = memberCleaner(table, new Set([...READ_ONLY, ...readOnly]));
  const texts = noValueTexts(table);
  return (sent) => (hasOne(sent, texts) ? remove(sent) : sent);
}

/** The texts that stand for no value, of all fields. */
function noValueTexts(table: FieldTable): readonly string[] {
  return Object.values(table).flatMap((field) => {
    if (field.kind === 'object') return noValueTexts(field.fields);
    if (field.kind === 'list') return noValueTexts({ of: field.of });
    return field.kind === 'choice' ? (field.noValue ?? []) : [];
  });
}

/** Whether a value has a null or one of some texts. Most bodies have none, and then nothing is copied. */
function hasOne(value: unknown, texts: readonly string[]): boolean {
  if (typeof value === 'string') return texts.includes(value);
  if (typeof value !== 'object') return false;
  return value === null || Object.values(value).some((member) => hasOne(member, texts));
}

function memberCleaner(table: FieldTable, readOnly: ReadonlySet<string> = new Set()): (sent: JsonObject) => JsonObject {
  const isNoValue = (name: string, value: unknown) => {
    const field = Object.hasOwn(table, name) ? table[name] : undefined;
    if (value === null) return readOnly.has(name) || (field !== undefined && !field.required);
    return field?.kind === 'choice' && value !== undefined && value === field.noValue;
  };
  const cleaners = new Map(Object.entries(table).map(([name, field]) => [name, valueCleaner(field)]));
  return (sent) =>
    Object.fromEntries(
      Object.entries(sent)
        .filter(([name, value]) => !isNoValue(name, value))
        .map(([name, value]) => [name, cleaners.get(name)?.(value) ?? value]),
    );
}

/** @returns undefined if no null inside the value stands for no value; values may be of any type */
function valueCleaner(field: Field): ((sent: unknown) => unknown) | undefined {
  if (field.kind === 'list') {
    const clean = valueCleaner(field.of);
    return clean && ((sent) => (Array.isArray(sent) ? sent.map(clean) : sent));
  }
  if (field.kind !== 'object' && field.kind !== 'attributes') return undefined;
  const clean = field.kind === 'object' ? memberCleaner(field.fields) : withoutNullMembers;
  return (sent) => (isJsonObject(sent) ? clean(sent) : sent);
}

function withoutNullMembers(sent: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null));
}

/** A draft, and the record that it changes. */
export interface Candidate<Fields> {
  readonly draft: Draft<Fields>;
  /** Absent for a new record. */
  readonly previous?: Versioned<Fields>;
}

/** Returns the issues of the references that each candidate adds. Fields with issues may have values of any type. */
export type ReferenceValidator<Fields> = (
  candidates: readonly Candidate<Fields>[],
) => Promise<readonly (readonly Issue[])[]>;

/** The rules of a resource beyond those of its fields. */
export interface RecordRules<Fields> {
  /** Absent if the entity has no references. */
  readonly references?: ReferenceValidator<Fields> | undefined;
  /** Absent if fields are stored as sent. */
  readonly normalize?: ((fields: Fields) => Fields) | undefined;
}

/** @returns for each candidate the fields to store, or an AppError `validation_failed` with every issue */
export async function validateAll<Fields>(
  { references, normalize }: RecordRules<Fields>,
  candidates: readonly Candidate<Fields>[],
): Promise<readonly (Fields | AppError)[]> {
  const missing = await references?.(candidates);
  return candidates.map(({ draft }, at) => {
    const issues = missing?.[at]?.length ? [...draft.issues, ...missing[at]] : draft.issues;
    if (issues.length > 0) return validationFailed(issues);
    const fields = draft.fields as Fields;
    return normalize ? normalize(fields) : fields;
  });
}

/** Returns an AppError `validation_failed` with the first of the issues; see {@link MAX_ISSUES}. */
export function validationFailed(issues: readonly Issue[]): AppError {
  return new AppError('validation_failed', 'The request body is invalid; see details.', issues.slice(0, MAX_ISSUES));
}

/** Returns which records exist. */
export type Referenced = Pick<Repository<unknown>, 'findExistingIds'>;

/**
 * Makes a validator for all references of an entity. It queries each resource once for all candidates. It does not
 * check a reference that the previous record already has: the record that it names may be deleted.
 * @param resources by the names of their tables
 * @returns undefined if the entity has no references
 * @throws Error if a field names a missing resource
 */
export function referenceValidator(
  table: FieldTable,
  resources: Readonly<Record<string, Referenced>>,
): ReferenceValidator<unknown> | undefined {
  const names = [...new Set(referencesIn(table, exampleOf(table)).map(({ to }) => to))];
  const named = names.map((name): [string, Referenced] => {
    const resource = resources[name];
    if (!resource) throw new Error(`A field names the resource ${name}, which does not exist.`);
    return [name, resource];
  });
  if (named.length === 0) return undefined;
  return async (candidates) => {
    const added = candidates.map(({ draft, previous }) => addedReferences(table, draft.fields, previous?.fields));
    const existing = await Promise.all(
      named.map(async ([name, resource]): Promise<[string, ReadonlySet<Id>]> => {
        const ids = new Set(added.flat().flatMap(({ to, id }) => (to === name ? [id] : [])));
        return [name, ids.size === 0 ? ids : await resource.findExistingIds([...ids])];
      }),
    );
    const idsOf = new Map(existing);
    return added.map((references) =>
      references
        .filter(({ to, id }) => !idsOf.get(to)?.has(id))
        .map(({ path }) => issueIn(table, { code: 'reference_not_found', path })),
    );
  };
}

function addedReferences(table: FieldTable, fields: unknown, previous: unknown): readonly Reference[] {
  const known = referencesIn(table, previous);
  return referencesIn(table, fields).filter(({ to, id }) => !known.some((one) => one.to === to && one.id === id));
}
