import { isJsonObject, type JsonObject } from '../../../../application/patch/merge-patch.js';
import type { Value } from '../../../../application/ports/list-query.js';
import { isDryRunId } from '../../../../application/records/dry-run-repository.js';
import {
  newDraft,
  type SentBeside,
  type SentRecord,
  sentDraft,
  validationFailed,
  withIssuesOfText,
} from '../../../../application/records/record-format.js';
import type {
  RecordWrite,
  RecordWriter,
  WriteOutcome,
} from '../../../../application/records/record-writer.js';
import { idempotentRequest, lineKey } from '../../../../application/records/write-conditions.js';
import {
  type AppError,
  fieldIssue,
  type Issue,
  type IssueCode,
  jsonPointer,
  PreconditionFailed,
} from '../../../../domain/errors.js';
import type { FieldTable } from '../../../../domain/fields.js';
import { isReference } from '../../../../domain/fields.js';
import type { Id, Versioned } from '../../../../domain/record.js';
import { validateText } from '../../../../domain/text.js';
import { issueIn } from '../../../../domain/validation.js';
import type { MaybePromise } from '../../../../shared/promises.js';
import type { Task } from '../../../../shared/task-scheduler.js';
import type { CodedError } from '../core/http-error.js';
import type { ResourceDefinition } from '../core/resource-definition.js';
import type { Match } from './import-parameters.js';

/** A record of an import. */
export interface ImportRecord extends SentRecord {
  /**
   * Returns the record as it is meant beside the one that has its key. Absent: it means the same as for a new record.
   * @param stored returns the record that has the key, as clients see it
   */
  readonly beside?: (stored: () => JsonObject) => SentRecord;
}

/** Writes the records of an import. */
export interface LineWriter<Fields> {
  /**
   * @param line the number of its line
   * @param bytes the length of its line
   * @throws AppError if the record is refused already
   */
  prepare(record: ImportRecord, line: number, bytes: number): RecordWrite<Fields>;
  /**
   * Await each call before the next one, whose records follow.
   * @returns an outcome for each record, in order; a promise of it for a record that others write at the same time
   */
  writeAll(
    writes: readonly RecordWrite<Fields>[],
    task: Task,
  ): Promise<readonly MaybePromise<WriteOutcome<Fields>>[]>;
  /** The result of a line that was not refused, without its number; it has a `status`. */
  result(outcome: Exclude<WriteOutcome<Fields>, AppError>): object;
}

/**
 * Each line is a new record.
 * @param key the key under which the stream is reserved; undefined: a repeated line creates another record
 */
export function creatingWriter<Fields>(
  resource: ResourceDefinition<Fields>,
  writer: RecordWriter<Fields>,
  key: string | undefined,
): LineWriter<Fields> {
  return {
    prepare({ body, issues }, line) {
      const draft = withIssuesOfText(newDraft(resource, body), issues);
      if (key === undefined) return { draft: () => draft };
      const request = { key: lineKey(key, line), body, storesFields: false };
      return { draft: () => draft, idempotency: idempotentRequest(request) };
    },
    writeAll: (writes) => writer.startAll(writes),
    result: (outcome) => resultOf(outcome, false),
  };
}

/** Each line is a record with a key: what it does to the record that has the key follows from the parameters. */
export function matchingWriter<Fields>(
  resource: ResourceDefinition<Fields>,
  writer: RecordWriter<Fields>,
  { field, existing }: Match,
): LineWriter<Fields> {
  // A merge keeps the spelling of the key by which it finds the record.
  const keptField = existing === 'merge' && resource.fields[field]?.ignoresCase ? field : undefined;
  return {
    prepare(record, _line, bytes) {
      const { body } = record;
      const sent = sentBy(record, resource, keptField);
      const draft = sentDraft(resource, existing, sent);
      const issuesOf = () => draft()?.issues ?? [];
      if (!isJsonObject(body)) throw validationFailed(issuesOf());
      const isDeletion = body['deleted'] === true;
      const issues = controlIssues(resource.table, field, body, isDeletion);
      if (issues.length > 0)
        throw validationFailed([...issues, ...(isDeletion ? [] : otherIssues(issuesOf(), field))]);
      const key = body[field] as Value;
      return { key, isDeletion, ...versionOf(body), draft, bytes };
    },
    writeAll: (writes, task) => writer.startAll(writes, task),
    result: (outcome) => resultOf(outcome, true),
  };
}

/** What the result of a refused line has beside the error. */
export function refusalOf(error: CodedError): object {
  return error instanceof PreconditionFailed
    ? { ...knownId(error.current.id), version: error.current.version }
    : {};
}

function knownId(id: Id): { readonly id?: Id } {
  return isDryRunId(id) ? {} : { id };
}

function resultOf(outcome: Exclude<WriteOutcome<unknown>, AppError>, hasVersion: boolean): object {
  const { kind } = outcome;
  if (kind === 'absent') return { status: 204, unchanged: true };
  if (kind === 'deleted') return { status: 204 };
  const { id, version } = outcome.record;
  return {
    status: kind === 'changed' || kind === 'unchanged' ? 200 : 201,
    ...knownId(id),
    ...(hasVersion && { version }),
    ...(kind === 'unchanged' && { unchanged: true }),
    ...(kind === 'replayed' && { replayed: true }),
  };
}

/** @param keptField the field of a record that exists which the line does not change */
function sentBy<Fields>(
  record: ImportRecord,
  { present }: ResourceDefinition<Fields>,
  keptField: string | undefined,
): SentBeside {
  return (stored) => {
    const { body, issues } =
      stored && record.beside ? record.beside(() => present(stored as Versioned<Fields>)) : record;
    const own = ownMembers(body);
    if (!stored || keptField === undefined || !isJsonObject(own)) return { body: own, issues };
    const kept = (stored.fields as JsonObject)[keptField];
    return { body: own[keptField] === kept ? own : { ...own, [keptField]: kept }, issues };
  };
}

/** The precondition of a line. What is no version of a record is that of no record. */
function versionOf({ version }: JsonObject): Pick<RecordWrite<unknown>, 'precondition' | 'mustExist'> {
  if (isAbsent(version)) return {};
  return { precondition: { only: isReference(version) ? [version] : [] }, mustExist: true };
}

/** A null of one of the service's own fields is no value, as in a new record. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

/** The members that are those of the record, and not of the line. */
function ownMembers(body: unknown): unknown {
  if (!isJsonObject(body)) return body;
  if (!LINE_MEMBERS.some((name) => Object.hasOwn(body, name))) return body;
  const { version: _version, deleted: _deleted, id, createdAt, updatedAt, ...rest } = body;
  return {
    ...(!isAbsent(id) && { id }),
    ...rest,
    ...(!isAbsent(createdAt) && { createdAt }),
    ...(!isAbsent(updatedAt) && { updatedAt }),
  };
}

const LINE_MEMBERS = ['version', 'deleted', 'id', 'createdAt', 'updatedAt'];

/** What is wrong with the members that say what a line does. */
function controlIssues(table: FieldTable, field: string, body: JsonObject, isDeletion: boolean): Issue[] {
  const { version, deleted } = body;
  const issues = field === 'id' ? idIssues(body['id']) : keyIssues(table, field, body[field]);
  if (!isDeletion && !isAbsent(version) && !isReference(version))
    issues.push(
      fieldIssue(
        codeOfInteger(version),
        ['version'],
        'must be the version that you have seen, an integer from 1',
      ),
    );
  if (!isAbsent(deleted) && typeof deleted !== 'boolean')
    issues.push(fieldIssue('invalid_type', ['deleted'], 'must be true or false'));
  return issues;
}

function idIssues(id: unknown): Issue[] {
  const rule = 'the id of a record, an integer from 1';
  if (isAbsent(id)) return [fieldIssue('required', ['id'], `is required: it must be ${rule}`)];
  return isReference(id) ? [] : [fieldIssue(codeOfInteger(id), ['id'], `must be ${rule}`)];
}

function codeOfInteger(value: unknown): 'out_of_range' | 'invalid_type' {
  return Number.isInteger(value) ? 'out_of_range' : 'invalid_type';
}

function keyIssues(table: FieldTable, field: string, key: unknown): Issue[] {
  const rule = table[field];
  if (rule?.kind !== 'text') throw new Error(`Records cannot be found by ${field}, which is no text.`);
  const codes: IssueCode[] = isAbsent(key)
    ? ['required']
    : typeof key === 'string'
      ? validateText(key, rule)
      : ['invalid_type'];
  return codes.map((code) => issueIn(table, { code, path: [field] }));
}

/** The issues that do not depend on the record which has the key. */
function otherIssues(issues: readonly Issue[], field: string): Issue[] {
  const dependent = new Set([field, ...LINE_MEMBERS].map((name) => jsonPointer([name])));
  return issues.filter(({ code, pointer }) => code !== 'required' && !dependent.has(pointer));
}
