import { CatalogueError, type Fault, MAX_FAULTS } from '../../../../domain/errors.js';
import { pointerSteps, type Steps } from './json-pointer.js';
import { isJsonObject } from './merge-patch.js';
import { bodyFault } from './schema.js';

/** RFC 6902 section 4, with its pointers read. */
export type PatchOperation =
  | WithValue<'add'>
  | WithValue<'replace'>
  | WithValue<'test'>
  | WithFrom<'move'>
  | WithFrom<'copy'>
  | { readonly op: 'remove'; readonly path: Steps };

interface WithValue<Op> {
  readonly op: Op;
  readonly path: Steps;
  readonly value: unknown;
}

interface WithFrom<Op> {
  readonly op: Op;
  readonly path: Steps;
  readonly from: Steps;
}

type Sent = Readonly<Record<string, unknown>>;

export const MAX_OPERATIONS = 1_000;

/** What an operation needs beside `path`. Other members are ignored, as the RFC demands. */
const NEEDED: ReadonlyMap<unknown, 'value' | 'from' | undefined> = new Map([
  ['add', 'value'],
  ['replace', 'value'],
  ['test', 'value'],
  ['move', 'from'],
  ['copy', 'from'],
  ['remove', undefined],
]);

/**
 * A JSON Patch as a client sent it; whether it fits a record is not asked.
 * @throws CatalogueError `invalid_patch`, with all that is wrong
 */
export function readPatch(body: unknown): PatchOperation[] {
  const faults: Fault[] = [];
  const operations = operationsIn(body, faults);
  if (faults.length === 0) return operations;
  const details = faults.slice(0, MAX_FAULTS);
  throw invalidPatch('The body is no JSON Patch (RFC 6902); see details.', details);
}

export function invalidPatch(message: string, faults: readonly Fault[]): CatalogueError {
  return new CatalogueError('invalid_patch', message, faults);
}

/** @param faults takes what is wrong; the operations are good if it stays empty */
function operationsIn(body: unknown, faults: Fault[]): PatchOperation[] {
  if (!Array.isArray(body)) faults.push(bodyFault('invalid_type', []));
  else if (body.length > MAX_OPERATIONS) faults.push(bodyFault('too_long', []));
  else
    return body.map((sent: unknown, at) => {
      if (isJsonObject(sent)) return readOperation(sent, at, faults);
      faults.push(bodyFault('invalid_type', [at]));
      return sent as PatchOperation;
    });
  return [];
}

function readOperation(sent: Sent, at: number, faults: Fault[]): PatchOperation {
  const { op } = sent;
  if (op === undefined) faults.push(bodyFault('required', [at, 'op']));
  else if (typeof op !== 'string') faults.push(bodyFault('invalid_type', [at, 'op']));
  else if (!NEEDED.has(op)) faults.push(bodyFault('invalid_format', [at, 'op']));
  const needed = NEEDED.get(op);
  const path = readPointer(sent, 'path', at, faults);
  const from = needed === 'from' && { from: readPointer(sent, 'from', at, faults) };
  if (needed === 'value' && !Object.hasOwn(sent, 'value')) faults.push(bodyFault('required', [at, 'value']));
  return { ...sent, path, ...from } as PatchOperation;
}

function readPointer(sent: Sent, member: 'path' | 'from', at: number, faults: Fault[]): Steps {
  const text = sent[member];
  const steps =
    text === undefined ? 'required' : typeof text === 'string' ? pointerSteps(text) : 'invalid_type';
  if (typeof steps !== 'string') return steps;
  faults.push(bodyFault(steps, [at, member]));
  return [];
}
