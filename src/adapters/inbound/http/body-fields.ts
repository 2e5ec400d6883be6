import { CatalogueError, type Fault } from '../../../domain/errors.js';
import type { Versioned } from '../../../domain/record.js';
import { isJsonObject, mergePatch } from './merge-patch.js';
import type { ResourceDescription } from './resource-description.js';
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

/** Makes a resource's fields from what a client sent. Each throws CatalogueError `validation_failed`, all faults at once. */
export class BodyFields<Fields> {
  constructor(private readonly resource: ResourceDescription<Fields>) {}

  /** For POST: nothing that the service gives may be named. */
  ofNew(body: unknown): Fields {
    const sent = asObject(body);
    return this.checked(sent, readOnlyFaults(sent, {}));
  }

  /** For PUT: the service's own fields may come back as they are. */
  ofReplacement(body: unknown, current: Versioned<Fields>): Fields {
    const sent = asObject(body);
    return this.checked(sent, readOnlyFaults(sent, metadata(current)));
  }

  /** For PATCH: what the merge patch of RFC 7396 makes of the record. */
  ofMergePatch(patch: unknown, current: Versioned<Fields>): Fields {
    const sent = asObject(patch);
    const { id: _, ...shown } = withoutAbsent(this.resource.present(current));
    return this.checked(asObject(mergePatch(shown, writable(sent))), readOnlyFaults(sent, metadata(current)));
  }

  private checked(sent: JsonObject, faults: readonly Fault[]): Fields {
    const fields = writable(sent);
    const details = [...faults, ...schemaFaults(this.resource.schema, fields)];
    if (details.length > 0) {
      throw new CatalogueError(
        'validation_failed',
        'The body is not what this resource takes; see details.',
        details,
      );
    }
    return fields as Fields;
  }
}

function asObject(body: unknown): JsonObject {
  if (isJsonObject(body)) return body;
  throw new CatalogueError('validation_failed', 'The body is not a JSON object.', [
    bodyFault('invalid_type', []),
  ]);
}

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
