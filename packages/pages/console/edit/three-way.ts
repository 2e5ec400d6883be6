import { labelOf } from '../formats.js';
import { TEXTS } from '../texts.js';
import type { Field } from './form-model.js';
import { isObject, isSame, type Json, type JsonObject, member } from './json.js';

export type Side = 'yours' | 'theirs';

/** A field, or a key of a map, that two people left with different values. Undefined is no value. */
export interface Difference {
  /** The name of the field, and the key if the field is a map. */
  readonly path: readonly [name: string, key?: string];
  readonly base: Json | undefined;
  readonly yours: Json | undefined;
  readonly theirs: Json | undefined;
  /** The only side that changed it; undefined if both did, so that a person must choose. */
  readonly changed: Side | undefined;
}

/** The versions of one record. Each has fields that can be written, and no metadata. */
export interface ThreeWay {
  readonly base: JsonObject;
  readonly yours: JsonObject;
  readonly theirs: JsonObject;
}

/** Compares a map key by key, and every other field as a whole: half a price or half an order makes no sense. */
export function differencesOf(fields: readonly Field[], { base, yours, theirs }: ThreeWay): Difference[] {
  const paths = fields.flatMap(({ name, kind }): Difference['path'][] => {
    if (kind !== 'map') return [[name]];
    const keys = [base, theirs, yours].flatMap((one) => Object.keys(objectAt(one, name)));
    return [...new Set(keys)].map((key) => [name, key]);
  });
  return paths.flatMap((path) => {
    const values = { base: at(base, path), yours: at(yours, path), theirs: at(theirs, path) };
    if (isSame(values.yours, values.theirs)) return [];
    const [isYours, isTheirs] = [!isSame(values.base, values.yours), !isSame(values.base, values.theirs)];
    return [{ path, ...values, changed: isYours && isTheirs ? undefined : isYours ? 'yours' : 'theirs' }];
  });
}

/** What a difference is called, and how its values are shown: of two that could look alike with their types. */
export function shownOf({ path: [name, key], yours, theirs }: Difference, fields: readonly Field[]) {
  if (key === undefined) return { label: labelOf(name), field: fields.find((field) => field.name === name) };
  const hasType = yours !== undefined && theirs !== undefined && typeof yours !== typeof theirs;
  return { label: TEXTS.conflict.attribute(labelOf(name), key), hasType };
}

/** Their record with the chosen value of each difference. */
export function mergedRecord(
  theirs: JsonObject,
  chosen: readonly { readonly path: Difference['path']; readonly value: Json | undefined }[],
): JsonObject {
  return chosen.reduce((record, { path: [name, key], value }) => {
    if (key === undefined) return withMember(record, name, value);
    const map = withMember(objectAt(record, name), key, value);
    return withMember(record, name, Object.keys(map).length > 0 ? map : undefined);
  }, theirs);
}

function withMember(object: JsonObject, name: string, value: Json | undefined): JsonObject {
  const others = Object.entries(object).filter(([other]) => other !== name);
  return Object.fromEntries(value === undefined ? others : [...others, [name, value]]);
}

function at(record: JsonObject, [name, key]: Difference['path']): Json | undefined {
  return key === undefined ? member(record, name) : member(member(record, name), key);
}

function objectAt(record: JsonObject, name: string): JsonObject {
  const found = member(record, name);
  return isObject(found) ? found : {};
}
