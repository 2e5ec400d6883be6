import { isStoredExactly } from '../../domain/attributes.js';
import { AppError, fieldIssue, type Issue, MAX_ISSUES } from '../../domain/errors.js';
import { hasProtoStep, MAX_STEPS, pointerIssue } from './json-pointer.js';
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
  const rule = `must be an array of at most ${MAX_OPERATIONS} operations`;
  if (!Array.isArray(body)) issues.push(fieldIssue('invalid_type', [], rule));
  else if (body.length > MAX_OPERATIONS) issues.push(fieldIssue('too_long', [], rule));
  else {
    for (const [at, sent] of body.entries()) checkOperation(sent, at, issues);
    return body as PatchOperation[];
  }
  return [];
}

function checkOperation(sent: unknown, at: number, issues: Issue[]): void {
  if (!isJsonObject(sent)) {
    issues.push(fieldIssue('invalid_type', [at], 'must be an object with op and path'));
    return;
  }
  const { op } = sent;
  const report = (code: Issue['code'], member: string, rule: string) =>
    issues.push(
      fieldIssue(code, [at, member], `${code === 'required' ? 'is required: it ' : ''}must be ${rule}`),
    );
  if (op === undefined) report('required', 'op', OPERATIONS);
  else if (typeof op !== 'string') report('invalid_type', 'op', OPERATIONS);
  else if (!NEEDED.has(op)) report('invalid_format', 'op', OPERATIONS);
  const needed = NEEDED.get(op);
  for (const member of needed === 'from' ? (['path', 'from'] as const) : (['path'] as const)) {
    const issue = pointerIssueOf(sent, member);
    if (issue !== undefined) report(issue, member, POINTERS);
  }
  if (needed === 'value' && !Object.hasOwn(sent, 'value')) report('required', 'value', 'a JSON value');
  if (op === 'test' && hasUnsafeNumber(sent['value'])) report('out_of_range', 'value', TESTED_VALUES);
}

const OPERATIONS = `one of ${[...NEEDED.keys()].join(', ')}`;
const POINTERS = `a JSON Pointer (RFC 6901) of at most ${MAX_STEPS} steps, none of them __proto__`;
const TESTED_VALUES = `a JSON value whose numbers are from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`;

/** The value of a `test` is in no record, so no rule of a field checks its numbers. */
function hasUnsafeNumber(value: unknown): boolean {
  if (typeof value === 'number') return !isStoredExactly(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasUnsafeNumber);
}

function pointerIssueOf(sent: Sent, member: 'path' | 'from'): Issue['code'] | undefined {
  const text = sent[member];
  if (text === undefined) return 'required';
  return typeof text === 'string' ? stepsIssue(text, sent) : 'invalid_type';
}

/** A `test` of a path that cannot exist fails as of any absent one. The other operations cannot use it. */
function stepsIssue(text: string, { op }: Sent): Issue['code'] | undefined {
  return pointerIssue(text) ?? (op !== 'test' && hasProtoStep(text) ? 'invalid_format' : undefined);
}
