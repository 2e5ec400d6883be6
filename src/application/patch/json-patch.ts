import { AppError, fieldIssue, jsonPointer } from '../../domain/errors.js';
import type { EmptyValues } from '../../domain/fields.js';
import { indexOf, pointerSteps, type Steps, valueAt } from './json-pointer.js';
import { isJsonObject } from './merge-patch.js';
import { invalidPatch, type PatchOperation, parseJsonPatch } from './parse-json-patch.js';

/** As deep as a body may be. */
const MAX_DEPTH = 20;

/**
 * No record has this many values. Everything that a patch adds, moves and copies counts, so this also bounds its work.
 */
const MAX_VALUES = 50_000;

/** A message shows at most this many characters of a path, which may be as long as a body. */
const MAX_QUOTED = 100;

/**
 * Returns the result of a JSON Patch (RFC 6902) on a document. Neither the document nor the patch changes. The library
 * rfc6902 is not used: it accepts inherited members and indexes such as `00` or `length` as locations, and does not
 * limit copies that double a document.
 * @param body the patch as a client sent it
 * @param empty for each member that the document may lack: the list or object to which `add`, `copy` and `move` add then
 * @throws AppError `patch_test_failed`, `invalid_patch`
 */
export function applyJsonPatch(document: unknown, body: unknown, empty: EmptyValues = {}): unknown {
  const operations = parseJsonPatch(body);
  const patched = new PatchedDocument(document, empty);
  for (const [at, operation] of operations.entries()) patched.apply(operation, at);
  return patched.document;
}

/** A copy of a document while operations are applied to it. */
class PatchedDocument {
  /** Holds the document as a member, so that the whole document is a location like any other. */
  private readonly frame: { document: unknown } = { document: undefined };
  private valuesLeft = MAX_VALUES;
  /** The index of the current operation. */
  private at = 0;

  constructor(
    document: unknown,
    private readonly empty: EmptyValues,
  ) {
    this.frame.document = this.copy(document, 0);
  }

  get document(): unknown {
    return this.frame.document;
  }

  apply(operation: PatchOperation, at: number): void {
    this.at = at;
    const path = pointerSteps(operation.path);
    if (operation.op === 'test') this.test(path, operation.value);
    else if (operation.op === 'add') this.add(path, operation.value);
    else if (operation.op === 'replace') this.replace(path, operation.value);
    else if (operation.op === 'remove') this.remove(path);
    else if (operation.op === 'move') this.move(pointerSteps(operation.from), path);
    else this.add(path, this.existing(pointerSteps(operation.from), 'from'));
  }

  private test(path: Steps, value: unknown): void {
    if (isSameJson(valueAt(this.document, path), value)) return;
    const message = `Operation ${this.at}, a test, found another value at ${quoted(path)}.`;
    throw new AppError('patch_test_failed', message, [
      { code: 'patch_test_failed', message, in: 'body', pointer: jsonPointer([this.at]) },
    ]);
  }

  private add(path: Steps, value: unknown): void {
    this.provide(path);
    const { parent, step } = this.position(path);
    const copy = this.copy(value, path.length);
    if (!Array.isArray(parent)) {
      parent[step] = copy;
      return;
    }
    const index = step === '-' ? parent.length : indexOf(step);
    if (index === undefined || index > parent.length) throw this.cannot('path');
    parent.splice(index, 0, copy);
  }

  /** Gives the document the empty list or object that the path leads directly into, if it lacks it. */
  private provide([name = '', ...inside]: Steps): void {
    const { document, empty } = this;
    if (inside.length !== 1 || !Object.hasOwn(empty, name)) return;
    if (isJsonObject(document) && !Object.hasOwn(document, name))
      (document as Record<string, unknown>)[name] = this.copy(empty[name], 1);
  }

  private replace(path: Steps, value: unknown): void {
    this.existing(path, 'path');
    const { parent, step } = this.position(path);
    // An existing index of an array is a property name.
    (parent as Record<string, unknown>)[step] = this.copy(value, path.length);
  }

  private remove(path: Steps): void {
    this.existing(path, 'path');
    if (path.length === 0) throw this.cannot('path');
    const { parent, step } = this.position(path);
    if (Array.isArray(parent)) parent.splice(Number(step), 1);
    else delete parent[step];
  }

  private move(from: Steps, path: Steps): void {
    const value = this.existing(from, 'from');
    const isWithin = from.every((step, i) => step === path[i]);
    if (isWithin && from.length === path.length) return;
    if (isWithin) throw this.cannot('path');
    this.remove(from);
    this.add(path, value);
  }

  private existing(steps: Steps, member: 'path' | 'from'): unknown {
    const value = valueAt(this.document, steps);
    if (value === undefined) throw this.cannot(member);
    return value;
  }

  /** The array or object that the last step leads into. */
  private position(path: Steps): { parent: Record<string, unknown> | unknown[]; step: string } {
    const steps = ['document', ...path];
    const step = steps.pop() ?? '';
    const parent = valueAt(this.frame, steps);
    if (Array.isArray(parent) || isJsonObject(parent)) return { parent, step };
    throw this.cannot('path');
  }

  /** @param depth the number of arrays and objects around the value */
  private copy(value: unknown, depth: number): unknown {
    if (--this.valuesLeft < 0) throw this.tooLarge();
    const isArray = Array.isArray(value);
    if (!isArray && !isJsonObject(value)) return value;
    if (depth >= MAX_DEPTH) throw this.tooLarge();
    if (isArray) return value.map((element) => this.copy(element, depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, this.copy(member, depth + 1)]),
    );
  }

  private cannot(member: 'path' | 'from'): AppError {
    const message = `Operation ${this.at} (the first is 0) cannot be applied: the location does not exist; see details.`;
    return invalidPatch(message, [
      fieldIssue('reference_not_found', [this.at, member], 'must lead to a place in the record'),
    ]);
  }

  private tooLarge(): AppError {
    const limits = `must leave a record of at most ${MAX_DEPTH} levels, and the patch add at most ${MAX_VALUES} values in all`;
    return invalidPatch('The patch makes too much of the record.', [
      fieldIssue('too_long', [this.at], limits),
    ]);
  }
}

/** RFC 6902 section 4.6: numbers by value, objects in any order of members. */
function isSameJson(one: unknown, other: unknown): boolean {
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((value, i) => isSameJson(value, other[i]))
    );
  }
  if (!isJsonObject(one) || !isJsonObject(other)) return one === other;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length && names.every((name) => isSameJson(one[name], other[name]))
  );
}

function quoted(path: Steps): string {
  return JSON.stringify(jsonPointer(path.map((step) => step.slice(0, MAX_QUOTED))).slice(0, MAX_QUOTED));
}
