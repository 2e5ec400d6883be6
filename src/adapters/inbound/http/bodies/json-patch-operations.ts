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
  const faults = patchFaults(body).slice(0, MAX_FAULTS);
  if (faults.length > 0) throw invalidPatch('The body is no JSON Patch (RFC 6902); see details.', faults);
  return (body as Sent[]).map((sent) => {
    const read = { ...sent, path: stepsOf(sent['path']) };
    return (
      NEEDED.get(sent['op']) === 'from' ? { ...read, from: stepsOf(sent['from']) } : read
    ) as PatchOperation;
  });
}

export function invalidPatch(message: string, faults: readonly Fault[]): CatalogueError {
  return new CatalogueError('invalid_patch', message, faults);
}

function patchFaults(body: unknown): Fault[] {
  if (!Array.isArray(body)) return [bodyFault('invalid_type', [])];
  if (body.length > MAX_OPERATIONS) return [bodyFault('too_long', [])];
  return body.flatMap((sent, at) =>
    isJsonObject(sent) ? operationFaults(sent, at) : [bodyFault('invalid_type', [at])],
  );
}

function operationFaults(sent: Sent, at: number): Fault[] {
  const needed = NEEDED.get(sent['op']);
  return [
    ...textFaults(sent, 'op', at, (op) => NEEDED.has(op)),
    ...pointerFaults(sent, 'path', at),
    ...(needed === 'from' ? pointerFaults(sent, 'from', at) : []),
    ...(needed === 'value' && !Object.hasOwn(sent, 'value') ? [bodyFault('required', [at, 'value'])] : []),
  ];
}

function pointerFaults(sent: Sent, member: 'path' | 'from', at: number): Fault[] {
  return textFaults(sent, member, at, (text) => pointerSteps(text) !== undefined);
}

function textFaults(sent: Sent, member: string, at: number, isGood: (text: string) => boolean): Fault[] {
  const text = sent[member];
  if (text === undefined) return [bodyFault('required', [at, member])];
  if (typeof text !== 'string') return [bodyFault('invalid_type', [at, member])];
  return isGood(text) ? [] : [bodyFault('invalid_format', [at, member])];
}

function stepsOf(pointer: unknown): Steps | undefined {
  return pointerSteps(pointer as string);
}
