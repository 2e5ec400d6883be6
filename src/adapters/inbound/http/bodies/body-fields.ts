import type { Draft } from '../../../../application/judgement.js';
import type { Fault } from '../../../../domain/errors.js';
import type { Unjudged, Versioned } from '../../../../domain/record.js';
import type { ResourceDescription } from '../resource-description.js';
import { applyPatch } from './json-patch.js';
import { readPatch } from './json-patch-operations.js';
import { isJsonObject, mergePatch } from './merge-patch.js';
import { bodyFault, schemaFaults } from './schema.js';

type JsonObject = Readonly<Record<string, unknown>>;

const READ_ONLY = ['id', 'version', 'createdAt', 'updatedAt'] as const;

/** The service's own fields of a record, as clients see them. */
export function metadata(record: Versioned<unknown>): Record<(typeof READ_ONLY)[number], unknown> {
  return {
    id: record.id,
    version: record.version,
    createdAt: new Date(record.createdAt).toISOString(),
    updatedAt: new Date(record.updatedAt).toISOString(),
  };
}

/** Makes a resource's fields from what a client sent, and tells all that is wrong with it. */
export class BodyFields<Fields> {
  constructor(private readonly resource: ResourceDescription<Fields>) {}

  /** For POST: nothing that the service gives may be named. */
  ofNew(sent: unknown): Draft<Fields> {
    return isJsonObject(sent) ? this.draft(sent, readOnlyFaults(sent, {})) : NO_OBJECT;
  }

  /** For PUT: the service's own fields may come back as they are. */
  ofReplacement(sent: unknown, current: Versioned<Fields>): Draft<Fields> {
    return isJsonObject(sent) ? this.draft(sent, readOnlyFaults(sent, metadata(current))) : NO_OBJECT;
  }

  /** For PATCH: what the merge patch of RFC 7396 makes of the record. */
  ofMergePatch(sent: unknown, current: Versioned<Fields>): Draft<Fields> {
    if (!isJsonObject(sent)) return NO_OBJECT;
    const merged = mergePatch(this.shown(current), sent) as JsonObject;
    return this.draft(merged, readOnlyFaults(sent, metadata(current)));
  }

  /**
   * For PATCH: what the JSON Patch of RFC 6902 makes of the record as it is shown.
   * @throws CatalogueError `invalid_patch`, `patch_test_failed`
   */
  ofJsonPatch(patch: unknown, current: Versioned<Fields>): Draft<Fields> {
    const outcome = applyPatch(this.shown(current), readPatch(patch));
    if (!isJsonObject(outcome)) return NO_OBJECT;
    // The record shows its id, so that an outcome without one has removed it.
    const sent = { id: undefined, ...outcome };
    return this.draft(outcome, readOnlyFaults(sent, metadata(current)));
  }

  private shown(record: Versioned<Fields>): JsonObject {
    return withoutAbsent(this.resource.present(record));
  }

  private draft(sent: JsonObject, faults: readonly Fault[]): Draft<Fields> {
    const fields = writable(sent);
    return {
      fields: fields as Unjudged<Fields>,
      faults: [...faults, ...schemaFaults(this.resource.schema, fields)],
    };
  }
}

const NO_OBJECT: Draft<never> = { fields: {} as never, faults: [bodyFault('invalid_type', [])] };

function readOnlyFaults(sent: JsonObject, stored: JsonObject): Fault[] {
  return READ_ONLY.filter((field) => Object.hasOwn(sent, field) && sent[field] !== stored[field]).map(
    (field) => bodyFault('read_only_field', [field]),
  );
}

function writable(sent: JsonObject): JsonObject {
  const { id: _id, version: _version, createdAt: _createdAt, updatedAt: _updatedAt, ...rest } = sent;
  return rest;
}

function withoutAbsent(shown: object): JsonObject {
  return Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== undefined));
}
