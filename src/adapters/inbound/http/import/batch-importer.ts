import type { Value } from '../../../../application/ports/list-query.js';
import type { Logger } from '../../../../application/ports/logger.js';
import { isDryRunId } from '../../../../application/records/dry-run-repository.js';
import {
  newDraft,
  type SentBeside,
  type SentRecord,
  sentDraft,
  validationFailed,
  withIssuesOfText,
} from '../../../../application/records/record-format.js';
import type { RecordWrite, RecordWriter, WriteOutcome } from '../../../../application/records/record-writer.js';
import { idempotentRequest, lineKey } from '../../../../application/records/write-conditions.js';
import {
  AppError,
  fieldIssue,
  type Issue,
  type IssueCode,
  jsonPointer,
  PreconditionFailed,
} from '../../../../domain/errors.js';
import {
  type FieldSpec,
  type FieldSpecs,
  type FieldTable,
  foldedText,
  isReference,
} from '../../../../domain/fields.js';
import type { Id, Versioned } from '../../../../domain/record.js';
import { validateText } from '../../../../domain/text.js';
import { issueIn } from '../../../../domain/validation.js';
import { heldBytes } from '../../../../shared/byte-quota.js';
import type { Permit } from '../../../../shared/fair-semaphore.js';
import { isJsonObject, type JsonObject, jsonLine } from '../../../../shared/json.js';
import { andThen, type MaybePromise } from '../../../../shared/promises.js';
import type { ImportLine } from '../../../../shared/record-splitters.js';
import { Slices, type Task } from '../../../../shared/task-scheduler.js';
import { type CodedError, isCoded, statusOf } from '../core/http-error.js';
import type { ResourceDefinition } from '../core/resource-definition.js';
import { lengthOf } from './read-lines.js';

export interface BatchImporterOptions {
  /** Reads the record in a line, or throws a coded error. */
  readonly prepare: (line: ImportLine) => RecordWrite<unknown>;
  readonly writer: Pick<RecordWriter<unknown>, 'startAll'>;
  /** Whether results have the version of their record. */
  readonly showsVersions: boolean;
  /** Returns an error as the client may see it. */
  readonly shown: (error: CodedError) => CodedError;
  readonly logger: Logger;
  /** The ids of the request, for the log. */
  readonly ids: Readonly<Record<string, string>>;
  readonly task: Task;
  /**
   * Waits for the memory of a batch.
   * @throws AppError `unavailable`
   */
  readonly takePlace: (bytes: number) => MaybePromise<Pick<Permit, 'release'>>;
  /** Throws an AppError if the client may import no more lines. Absent: it may import all. */
  readonly checkAccess?: () => MaybePromise<void>;
}

type Outcome = WriteOutcome<unknown> | CodedError;

/** Writes the records of an import, batch by batch. */
export class BatchImporter {
  /** How many lines were recognised as repeated. */
  replays = 0;
  private isStoreDown = false;
  /** The error of all further lines, after the client has lost its access. */
  private refusal: AppError | undefined;

  constructor(private readonly options: BatchImporterOptions) {}

  /**
   * Holds a place until the outcome of the last line is known: what waits for its client has none. Await each call
   * before the next one, whose lines follow.
   * @returns one result per line, in the same order, as NDJSON; a promise if a line has to be tried again
   */
  async import(lines: readonly ImportLine[]): Promise<{ readonly results: MaybePromise<string> }> {
    let place: Pick<Permit, 'release'>;
    try {
      place = await this.options.takePlace(heldBy(lines));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { results: this.resultsOf(lines, Array(lines.length).fill(error)) };
    }
    const release = () => place.release();
    try {
      const outcomes = await this.outcomesOf(lines);
      const results = andThen(allOf(outcomes), (known) => this.resultsOf(lines, known));
      if (results instanceof Promise) results.then(release, release);
      else release();
      return { results };
    } catch (error) {
      release();
      throw error;
    }
  }

  private async outcomesOf(lines: readonly ImportLine[]): Promise<readonly MaybePromise<Outcome>[]> {
    const slices = new Slices(this.options.task);
    const prepared: (RecordWrite<unknown> | CodedError)[] = [];
    for (const line of lines) {
      const pause = slices.next(lengthOf(line));
      if (pause) await pause;
      prepared.push(this.prepare(line));
    }
    const records = prepared.filter((one): one is RecordWrite<unknown> => !isCoded(one));
    const outcomes = (await this.writeAll(records)).values();
    return prepared.map((one) => (isCoded(one) ? one : (outcomes.next().value as MaybePromise<Outcome>)));
  }

  private prepare(line: ImportLine): RecordWrite<unknown> | CodedError {
    try {
      return this.options.prepare(line);
    } catch (error) {
      if (isCoded(error)) return error;
      throw error;
    }
  }

  /**
   * If the store is unavailable, or the client has lost its access, every line gets that error. Sending the lines again
   * writes nothing twice, if they have keys.
   */
  private async writeAll(records: readonly RecordWrite<unknown>[]): Promise<readonly MaybePromise<Outcome>[]> {
    const { writer, task, checkAccess } = this.options;
    try {
      if (this.refusal) throw this.refusal;
      await checkAccess?.();
      const outcomes = await writer.startAll(records, task);
      this.isStoreDown = false;
      return outcomes;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === 'unavailable') this.logOnce(error);
      else this.refusal = error;
      return records.map(() => error);
    }
  }

  /** Logs an outage once, not for each batch of a long stream. */
  private logOnce({ code, cause }: AppError): void {
    const { logger, ids } = this.options;
    if (!this.isStoreDown) logger.error(code, { ...ids, error: cause });
    this.isStoreDown = true;
  }

  private resultsOf(lines: readonly ImportLine[], outcomes: readonly Outcome[]): string {
    const results = outcomes.map((outcome) => this.resultOf(outcome));
    this.replays += results.filter((result) => 'replayed' in result).length;
    return lines.map(({ number: line }, at) => jsonLine(JSON.stringify({ line, ...results[at] }))).join('');
  }

  private resultOf(outcome: Outcome): object {
    const { shown, showsVersions } = this.options;
    if (isCoded(outcome)) {
      const { code, message, details } = shown(outcome);
      return { status: statusOf(outcome), ...currentOf(outcome), error: { code, message, details } };
    }
    const { kind } = outcome;
    if (kind === 'absent') return { status: 204, unchanged: true };
    if (kind === 'deleted') return { status: 204 };
    const { id, version } = outcome.record;
    return {
      status: kind === 'changed' || kind === 'unchanged' ? 200 : 201,
      ...knownId(id),
      ...(showsVersions && { version }),
      ...(kind === 'unchanged' && { unchanged: true }),
      ...(kind === 'replayed' && { replayed: true }),
    };
  }
}

/** What the result of a refused line has beside the error. */
function currentOf(error: CodedError): object {
  if (!(error instanceof PreconditionFailed)) return {};
  return { ...knownId(error.current.id), version: error.current.version };
}

function knownId(id: Id): { readonly id?: Id } {
  return isDryRunId(id) ? {} : { id };
}

/** What a line is counted for besides itself: the record that it finds. */
const FOUND_BYTES = 4 * 1024;

/** How many bytes of memory the records of a batch take, approximately. */
function heldBy(lines: readonly ImportLine[]): number {
  return heldBytes({ parsedFrom: lengthOf(...lines) }) + FOUND_BYTES * lines.length;
}

function allOf<Outcome>(outcomes: readonly MaybePromise<Outcome>[]): MaybePromise<readonly Outcome[]> {
  return outcomes.some((outcome) => outcome instanceof Promise)
    ? Promise.all(outcomes)
    : (outcomes as readonly Outcome[]);
}

/** How the lines of an import find records that exist, and what they do to them. */
export interface Match {
  /** `id`, or a unique field. */
  readonly field: string;
  /** What a line does to a record that has its key: RFC 7396, a replacement as by PUT, or nothing. */
  readonly existing: 'merge' | 'replace' | 'skip';
  /** Whether an empty cell of CSV removes the value under `merge`. */
  readonly clears: boolean;
}

export interface ImportRecord extends SentRecord {
  /**
   * Returns the record as it is meant beside the one that has its key. Absent: it means the same as for a new record.
   * @param stored returns the record that has the key, as clients see it
   */
  readonly beside?: (stored: () => JsonObject) => SentRecord;
}

/**
 * Returns a function that makes a write of a record, which throws an AppError if the record is refused already.
 * @param match absent: each record is a new one
 * @param key the key under which the stream is reserved; undefined: a repeated line creates another record
 */
export function preparer<Fields>(
  resource: ResourceDefinition<Fields>,
  match: Match | undefined,
  key: string | undefined,
): (record: ImportRecord, line: ImportLine) => RecordWrite<Fields> {
  if (match) return preparerByKey(resource, match);
  return ({ body, issues }, { number }) => {
    const draft = withIssuesOfText(newDraft(resource, body), issues);
    const request = key !== undefined && { key: lineKey(key, number), body, storesFields: false };
    return { draft: () => draft, ...(request && { idempotency: idempotentRequest(request) }) };
  };
}

/** What a line does to the record that has its key follows from the parameters. */
function preparerByKey<Fields>(
  resource: ResourceDefinition<Fields>,
  { field, existing }: Match,
): (record: ImportRecord, line: ImportLine) => RecordWrite<Fields> {
  const keptFields = existing === 'merge' ? fieldsWithSpellings(resource.fields, field) : [];
  return (record, line) => {
    const { body } = record;
    const draft = sentDraft(resource, existing, sentBy(record, resource, keptFields));
    const issuesOf = () => draft()?.issues ?? [];
    if (!isJsonObject(body)) throw validationFailed(issuesOf());
    const isDeletion = body['deleted'] === true;
    const issues = controlIssues(resource.table, field, body, isDeletion);
    if (issues.length > 0) throw validationFailed([...issues, ...(isDeletion ? [] : otherIssues(issuesOf(), field))]);
    return { key: body[field] as Value, isDeletion, ...versionOf(body), draft, bytes: lengthOf(line) };
  };
}

/** The fields of which a merge keeps the stored spelling: the key, unless its case counts, and padded numbers. */
function fieldsWithSpellings(fields: FieldSpecs, key: string): readonly [field: string, spec: FieldSpec][] {
  return Object.entries(fields).filter(([field, { ignoresCase, paddedTo }]) =>
    field === key ? ignoresCase : paddedTo !== undefined,
  );
}

/** @param keptFields of which a line does not change the spelling in a record that exists */
function sentBy<Fields>(
  record: ImportRecord,
  { present, table }: ResourceDefinition<Fields>,
  keptFields: ReturnType<typeof fieldsWithSpellings>,
): SentBeside {
  return (stored) => {
    const { body, issues } =
      stored && record.beside ? record.beside(() => present(stored as Versioned<Fields>)) : record;
    const own = ownMembers(body);
    if (!stored || !isJsonObject(own)) return { body: own, issues };
    const kept = keptFields.flatMap(([name, spec]) => {
      const [sent, known] = [own[name], (stored.fields as JsonObject)[name]];
      if (typeof sent !== 'string' || typeof known !== 'string' || sent === known) return [];
      const field = table[name];
      const isValid = field?.kind !== 'code' || field.pattern.test(sent);
      return isValid && foldedText(spec, sent) === foldedText(spec, known) ? [[name, known]] : [];
    });
    return { body: kept.length === 0 ? own : { ...own, ...Object.fromEntries(kept) }, issues };
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
      fieldIssue(codeOfInteger(version), ['version'], 'must be the version that you have seen, an integer from 1'),
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
