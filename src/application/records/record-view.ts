import { fieldIssue, type Issue } from '../../domain/errors.js';
import type { Field, FieldTable } from '../../domain/fields.js';
import type { Unvalidated, Versioned } from '../../domain/record.js';
import { applyJsonPatch } from '../patch/json-patch.js';
import { applyMergePatch, isJsonObject, type JsonObject } from '../patch/merge-patch.js';

/** How one version of the API shows the records of a resource, and how it reads bodies. */
export interface RecordView<Fields> {
  /** Returns the record as clients see it. A field without a value is absent. */
  present(record: Versioned<Fields>): JsonObject;
  /** Returns every issue of a body from which the service's own fields were removed. */
  validate(sent: JsonObject): readonly Issue[];
  /**
   * Returns the fields to store. It keeps the fields of `current` that this version does not show.
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

/** A change of a record, as a client sent it. */
export type Change =
  | { readonly kind: 'replacement'; readonly body: unknown }
  /** RFC 7396 */
  | { readonly kind: 'merge-patch'; readonly body: unknown }
  /** RFC 6902 */
  | { readonly kind: 'json-patch'; readonly body: unknown };

const READ_ONLY = ['id', 'version', 'createdAt', 'updatedAt'] as const;

const NO_OBJECT: Draft<never> = { fields: {} as never, issues: [fieldIssue('invalid_type', [])] };

/** Returns the service's own fields of a record, as clients see them. */
export function metadata(record: Versioned<unknown>): Record<(typeof READ_ONLY)[number], unknown> {
  return {
    id: record.id,
    version: record.version,
    createdAt: new Date(record.createdAt).toISOString(),
    updatedAt: new Date(record.updatedAt).toISOString(),
  };
}

/** Returns the draft of a new record. Each of the service's own fields in the body is an issue. */
export function newDraft<Fields>(view: RecordView<Fields>, body: unknown): Draft<Fields> {
  return isJsonObject(body) ? draftOf(view, body, readOnlyIssues(body, {})) : NO_OBJECT;
}

/**
 * Returns the draft of a changed record. The body may contain the service's own fields if they are unchanged.
 * @throws AppError `invalid_patch`, `patch_test_failed`
 */
export function changedDraft<Fields>(
  view: RecordView<Fields>,
  change: Change,
  current: Versioned<Fields>,
): Draft<Fields> {
  const { kind, body } = change;
  if (kind === 'json-patch') {
    const patched = applyJsonPatch(view.present(current), body);
    if (!isJsonObject(patched)) return NO_OBJECT;
    // The record shows its id, so a result without one has removed it.
    const issues = readOnlyIssues({ id: undefined, ...patched }, metadata(current));
    return draftOf(view, patched, issues, current);
  }
  if (!isJsonObject(body)) return NO_OBJECT;
  const issues = readOnlyIssues(body, metadata(current));
  if (kind === 'replacement') return draftOf(view, body, issues, current);
  return draftOf(view, applyMergePatch(view.present(current), body) as JsonObject, issues, current);
}

function draftOf<Fields>(
  view: RecordView<Fields>,
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

function readOnlyIssues(sent: JsonObject, stored: JsonObject): Issue[] {
  return READ_ONLY.filter((field) => Object.hasOwn(sent, field) && sent[field] !== stored[field]).map(
    (field) => fieldIssue('read_only_field', [field]),
  );
}

function withoutReadOnly(sent: JsonObject): JsonObject {
  if (!READ_ONLY.some((field) => Object.hasOwn(sent, field))) return sent;
  const { id: _id, version: _version, createdAt: _createdAt, updatedAt: _updatedAt, ...rest } = sent;
  return rest;
}

/** Makes {@link RecordView.present} for these fields. A stored field that is not in the table is never shown. */
export function presenter<Fields>(table: FieldTable): RecordView<Fields>['present'] {
  const copy = copierOf(table);
  return (record) => copy(record.fields as JsonObject, { id: record.id });
}

type ValueCopier = (value: never) => unknown;

function copierOf(table: FieldTable) {
  const copiers = Object.entries(table).map(([name, field]) => ({ name, copy: valueCopier(field) }));
  return (from: JsonObject, to: Record<string, unknown>): Record<string, unknown> => {
    for (const { name, copy } of copiers) {
      const value = from[name];
      if (value !== undefined) to[name] = copy ? copy(value as never) : value;
    }
    return to;
  };
}

/** @returns undefined if the value is shown as it is stored */
function valueCopier(field: Field): ValueCopier | undefined {
  if (field.kind === 'object') {
    const copy = copierOf(field.fields);
    return (value: JsonObject) => copy(value, {});
  }
  const copy = field.kind === 'list' ? valueCopier(field.of) : undefined;
  return copy && ((values: readonly never[]) => values.map(copy));
}

/**
 * Makes {@link RecordView.toFields} for a version whose fields have the names under which they are stored. It keeps
 * fields of the current record that are not in the table, also inside objects, because they belong to another version.
 */
export function fieldReader<Fields>(table: FieldTable): RecordView<Fields>['toFields'] {
  const keep = keeper(table);
  return (sent, current) => (current ? keep(sent, current as JsonObject) : sent);
}

function keeper(table: FieldTable): (sent: JsonObject, current: JsonObject) => JsonObject {
  const inner = Object.entries(table).flatMap(([name, field]) =>
    field.kind === 'object' ? [[name, keeper(field.fields)] as const] : [],
  );
  return (sent, current) => {
    const merged: Record<string, unknown> = { ...sent };
    for (const name of Object.keys(current)) if (!Object.hasOwn(table, name)) merged[name] = current[name];
    for (const [name, keep] of inner) {
      const [next, previous] = [sent[name], current[name]];
      if (isJsonObject(next) && isJsonObject(previous)) merged[name] = keep(next, previous);
    }
    return merged;
  };
}
