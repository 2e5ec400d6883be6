import { isJsonObject, type JsonObject } from '../../../../application/patch/merge-patch.js';
import type { Value } from '../../../../application/ports/list-query.js';
import type { Creation, CreationOutcome } from '../../../../application/records/create-records.js';
import {
  type IdempotentRequest,
  idempotentRequest,
  lineKey,
} from '../../../../application/records/idempotency.js';
import {
  type Draft,
  type SentRecord,
  withIssuesOfText,
} from '../../../../application/records/record-format.js';
import type { KeyedWrite, MatchOutcome } from '../../../../application/records/record-matcher.js';
import type { RecordWriter } from '../../../../application/records/record-service.js';
import { validationFailed } from '../../../../application/records/record-validator.js';
import { isRehearsed } from '../../../../application/records/rehearsed-records.js';
import { ANY_VERSION } from '../../../../application/records/versions.js';
import {
  type AppError,
  fieldIssue,
  type Issue,
  type IssueCode,
  jsonPointer,
  PreconditionFailed,
} from '../../../../domain/errors.js';
import type { FieldTable } from '../../../../domain/fields.js';
import type { Id, Versioned } from '../../../../domain/record.js';
import { isReference } from '../../../../domain/references.js';
import { issueIn } from '../../../../domain/rules.js';
import { validateText } from '../../../../domain/text.js';
import type { MaybePromise } from '../../../../shared/maybe-promise.js';
import type { Turn } from '../../../../shared/turn.js';
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
export interface LineWriter<Prepared, Outcome> {
  /**
   * @param line the number of its line
   * @param bytes the length of its line
   * @throws AppError if the record is refused already
   */
  prepare(record: ImportRecord, line: number, bytes: number): Prepared;
  /**
   * Await each call before the next one, whose records follow.
   * @returns an outcome for each record, in order; a promise of it for a record that others write at the same time
   */
  writeAll(prepared: readonly Prepared[], turn: Turn): Promise<readonly MaybePromise<Outcome>[]>;
  /** The result of a line that was not refused, without its number; it has a `status`. */
  result(outcome: Exclude<Outcome, AppError>): object;
  /** What the result of a refused line has beside the error. */
  refusal(error: CodedError): object;
}

/**
 * Each line is a new record.
 * @param key the key under which the stream is reserved; undefined: a repeated line creates another record
 */
export function creatingWriter<Fields>(
  service: RecordWriter<Fields>,
  key: string | undefined,
): LineWriter<Creation<Fields>, CreationOutcome<Fields>> {
  return {
    prepare({ body, issues }, line) {
      const draft = withIssuesOfText(service.draft(body), issues);
      return { draft, idempotency: idempotencyOf(key, line, body) };
    },
    writeAll: (creations) => service.createAll(creations),
    result({ record: { id }, isReplay }) {
      return { status: 201, ...knownId(id), ...(isReplay && { replayed: true }) };
    },
    refusal: () => ({}),
  };
}

function idempotencyOf(key: string | undefined, line: number, body: unknown): IdempotentRequest | undefined {
  return key === undefined
    ? undefined
    : idempotentRequest({ key: lineKey(key, line), body, storesFields: false });
}

function knownId(id: Id): { readonly id?: Id } {
  return isRehearsed(id) ? {} : { id };
}

/** Each line is a record with a key: what it does to the record that has the key follows from the parameters. */
export function matchingWriter<Fields>(
  service: RecordWriter<Fields>,
  resource: ResourceDefinition<Fields>,
  { field, existing }: Match,
  needsVersion: boolean,
): LineWriter<KeyedWrite, MatchOutcome<Fields>> {
  const matcher = service.matcher({
    field,
    existing,
    versionNeeded: needsVersion ? { in: 'version', by: 'changes' } : undefined,
  });
  // A merge keeps the spelling of the key by which it finds the record.
  const keptField = existing === 'merge' && resource.fields[field]?.ignoresCase ? field : undefined;
  return {
    prepare(record, _line, bytes) {
      const { body } = record;
      const sent = sentBy(record, resource, keptField);
      const draft = () => {
        const { body, issues } = sent();
        return withIssuesOfText(service.draft(body), issues);
      };
      if (!isJsonObject(body)) throw validationFailed(draft().issues);
      const isDeletion = body['deleted'] === true;
      const issues = controlIssues(resource.table, field, body, isDeletion);
      if (issues.length > 0)
        throw validationFailed([...issues, ...(isDeletion ? [] : otherIssues(draft(), field))]);
      const key = body[field] as Value;
      return { key, isDeletion, ...versionOf(body), sent, bytes };
    },
    writeAll: (writes, turn) => matcher.startAll(writes, turn),
    result: resultOf,
    refusal: (error) =>
      error instanceof PreconditionFailed
        ? { ...knownId(error.current.id), version: error.current.version }
        : {},
  };
}

function resultOf(outcome: Exclude<MatchOutcome<unknown>, AppError>): object {
  switch (outcome.kind) {
    case 'deleted':
      return { status: 204 };
    case 'absent':
      return { status: 204, unchanged: true };
    default: {
      const { kind, record } = outcome;
      const { id, version } = record;
      const status = kind === 'created' ? 201 : 200;
      return { status, ...knownId(id), version, ...(kind === 'unchanged' && { unchanged: true }) };
    }
  }
}

/** @param keptField the field of a record that exists which the line does not change */
function sentBy<Fields>(
  record: ImportRecord,
  { present }: ResourceDefinition<Fields>,
  keptField: string | undefined,
): KeyedWrite['sent'] {
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
function versionOf({ version }: JsonObject): Pick<KeyedWrite, 'precondition' | 'mustExist'> {
  if (isAbsent(version)) return { precondition: ANY_VERSION, mustExist: false };
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
function otherIssues({ issues }: Draft<unknown>, field: string): Issue[] {
  const dependent = new Set([field, ...LINE_MEMBERS].map((name) => jsonPointer([name])));
  return issues.filter(({ code, pointer }) => code !== 'required' && !dependent.has(pointer));
}
