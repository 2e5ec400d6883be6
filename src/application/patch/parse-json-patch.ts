import { isStoredExactly } from '../../domain/attributes.js';
import { AppError, fieldIssue, type Issue, MAX_ISSUES } from '../../domain/errors.js';
import { hasProtoStep, pointerIssue } from './json-pointer.js';
import { isJsonObject } from './merge-patch.js';

/** An operation of RFC 6902 section 4 with valid pointers (RFC 6901). It may have members that are ignored. */
export type PatchOperation =
  | WithValue<'add'>
  | WithValue<'replace'>
  | WithValue<'test'>
  | WithFrom<'move'>
  | WithFrom<'copy'>
  | { readonly op: 'remove'; readonly path: string };

interface WithValue<Op> {
  readonly op: Op;
  readonly path: string;
  readonly value: unknown;
}

interface WithFrom<Op> {
  readonly op: Op;
  readonly path: string;
  readonly from: string;
}

type Sent = Readonly<Record<string, unknown>>;

export const MAX_OPERATIONS = 1_000;

/** The member that an operation needs beside `path`. Other members are ignored (RFC 6902 section 4). */
const NEEDED: ReadonlyMap<unknown, 'value' | 'from' | undefined> = new Map([
  ['add', 'value'],
  ['replace', 'value'],
  ['test', 'value'],
  ['move', 'from'],
  ['copy', 'from'],
  ['remove', undefined],
]);

/**
 * Parses a JSON Patch. It does not check that the patch fits a record.
 * @throws AppError `invalid_patch` with every issue
 */
export function parseJsonPatch(body: unknown): PatchOperation[] {
  const issues: Issue[] = [];
  const operations = operationsIn(body, issues);
  if (issues.length === 0) return operations;
  const details = issues.slice(0, MAX_ISSUES);
  throw invalidPatch('The body is no JSON Patch (RFC 6902); see details.', details);
}

export function invalidPatch(message: string, issues: readonly Issue[]): AppError {
  return new AppError('invalid_patch', message, issues);
}

/** @param issues receives every issue; the operations are good if it stays empty */
function operationsIn(body: unknown, issues: Issue[]): PatchOperation[] {
  if (!Array.isArray(body)) issues.push(fieldIssue('invalid_type', []));
  else if (body.length > MAX_OPERATIONS) issues.push(fieldIssue('too_long', []));
  else {
    for (const [at, sent] of body.entries()) checkOperation(sent, at, issues);
    return body as PatchOperation[];
  }
  return [];
}

function checkOperation(sent: unknown, at: number, issues: Issue[]): void {
  if (!isJsonObject(sent)) {
    issues.push(fieldIssue('invalid_type', [at]));
    return;
  }
  const { op } = sent;
  if (op === undefined) issues.push(fieldIssue('required', [at, 'op']));
  else if (typeof op !== 'string') issues.push(fieldIssue('invalid_type', [at, 'op']));
  else if (!NEEDED.has(op)) issues.push(fieldIssue('invalid_format', [at, 'op']));
  const needed = NEEDED.get(op);
  checkPointer(sent, 'path', at, issues);
  if (needed === 'from') checkPointer(sent, 'from', at, issues);
  if (needed === 'value' && !Object.hasOwn(sent, 'value')) issues.push(fieldIssue('required', [at, 'value']));
  if (op === 'test' && hasUnsafeNumber(sent['value'])) issues.push(fieldIssue('out_of_range', [at, 'value']));
}

/** The value of a `test` is in no record, so no rule of a field checks its numbers. */
function hasUnsafeNumber(value: unknown): boolean {
  if (typeof value === 'number') return !isStoredExactly(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasUnsafeNumber);
}

function checkPointer(sent: Sent, member: 'path' | 'from', at: number, issues: Issue[]): void {
  const text = sent[member];
  const issue =
    text === undefined ? 'required' : typeof text === 'string' ? stepsIssue(text, sent) : 'invalid_type';
  if (issue !== undefined) issues.push(fieldIssue(issue, [at, member]));
}

/** A `test` of a path that cannot exist fails as of any absent one. The other operations cannot use it. */
function stepsIssue(text: string, { op }: Sent): Issue['code'] | undefined {
  return pointerIssue(text) ?? (op !== 'test' && hasProtoStep(text) ? 'invalid_format' : undefined);
}
