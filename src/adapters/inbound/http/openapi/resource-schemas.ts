import { MAX_OPERATIONS } from '../../../../application/patch/parse-json-patch.js';
import { API_KEY_SHAPE, type ApiKey } from '../../../../domain/access.js';
import { MAX_ID } from '../../../../domain/record.js';
import type { ResourceDefinition } from '../resources/resource-definition.js';
import type { ResourceDocs } from './description.js';
import { jsonSchemaOf } from './joi-to-json-schema.js';
import type { JsonSchema } from './json-schema.js';

export const ID: JsonSchema = { type: 'integer', minimum: 1, maximum: MAX_ID };
const INSTANT: JsonSchema = { type: 'string', format: 'date-time' };

type Properties = Readonly<Record<string, JsonSchema>>;

/** The read-only fields that `fields` can select. They may be sent back unchanged. */
const SELECTABLE_FIELDS: Properties = {
  version: {
    type: 'integer',
    minimum: 1,
    description: 'How often the record has been written: 1 when it is new.',
  },
  createdAt: INSTANT,
  updatedAt: INSTANT,
};

interface ObjectSchema extends JsonSchema {
  readonly properties: Properties;
  readonly required?: readonly string[];
}

export type SchemaKind = 'whole' | 'view' | 'fresh' | 'replacement' | 'patch';

/** The names of a resource's schemas in the document. */
export function schemaNames({ name }: ResourceDocs): Readonly<Record<SchemaKind, string>> {
  return {
    whole: name,
    view: `${name}View`,
    fresh: `New${name}`,
    replacement: `${name}Replacement`,
    patch: `${name}Patch`,
  };
}

/** The schema of a new API key with its secret. No other response has the secret, not even a replay of this one. */
export function issuedSchema(resource: ResourceDefinition<ApiKey>): JsonSchema {
  const { properties, required } = shownSchema(resource);
  const key = {
    type: 'string',
    pattern: API_KEY_SHAPE.source,
    description: 'The key itself, shown only in this response.',
  };
  return closed({ ...properties, key }, required);
}

/** The schemas of the bodies that clients send and receive. */
export function resourceSchemas<Fields>(
  resource: ResourceDefinition<Fields>,
): Readonly<Record<SchemaKind, JsonSchema>> {
  const sent = jsonSchemaOf(resource.schema) as ObjectSchema;
  const shown = shownSchema(resource);
  return {
    whole: shown,
    view: {
      ...closed({ ...shown.properties, ...SELECTABLE_FIELDS }),
      description: `The fields of ${resource.docs.one} that \`fields\` asks for.`,
    },
    fresh: sent,
    replacement: closed({ ...readOnly(), ...sent.properties }, sent.required),
    patch: closed({ ...readOnly(), ...patchProperties(sent) }),
  };
}

function shownSchema<Fields>({
  schema,
  readOnlyFields,
  alwaysPresent = [],
}: ResourceDefinition<Fields>): ObjectSchema {
  const { properties, required = [] } = jsonSchemaOf(schema) as ObjectSchema;
  return closed({ id: ID, ...properties, ...readOnlyFields }, ['id', ...required, ...alwaysPresent]);
}

function closed(properties: Properties, required: readonly string[] = []): ObjectSchema {
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function readOnly(): Properties {
  const all = Object.entries({ id: ID, ...SELECTABLE_FIELDS });
  return Object.fromEntries(all.map(([name, schema]) => [name, { ...schema, readOnly: true }]));
}

/** The properties of a merge patch (RFC 7396): null removes an optional field, and objects are merged. */
function patchProperties({ properties, required = [] }: ObjectSchema): Properties {
  const all = Object.entries(properties).map(([name, schema]) => {
    const merged = mergeable(schema);
    return [name, required.includes(name) ? merged : { anyOf: [merged, { type: 'null' }] }];
  });
  return Object.fromEntries(all);
}

function mergeable(schema: JsonSchema): JsonSchema {
  if (schema['type'] !== 'object') return schema;
  if (schema['properties']) return closed(patchProperties(schema as ObjectSchema));
  const { maxProperties: _ofResult, additionalProperties: value, ...rest } = schema;
  const { anyOf } = value as { readonly anyOf: readonly JsonSchema[] };
  return { ...rest, additionalProperties: { anyOf: [...anyOf, { type: 'null' }] } };
}

const POINTER: JsonSchema = {
  type: 'string',
  format: 'json-pointer',
  pattern: '^(/([^~/]|~[01])*)*$',
};

/** Not recursive, because common type generators cannot follow a schema that refers to itself. */
const NO_PROTO: JsonSchema = { not: { const: '__proto__' } };

/** The schema of a JSON Patch (RFC 6902 section 4). Unknown members of an operation are ignored. */
export const JSON_PATCH_SCHEMA: JsonSchema = {
  type: 'array',
  maxItems: MAX_OPERATIONS,
  items: {
    anyOf: [
      operation(['add', 'replace', 'test'], { value: { description: 'Any JSON value.' } }),
      operation(['move', 'copy'], { from: POINTER }),
      operation(['remove'], {}),
    ],
  },
};

function operation(names: readonly string[], more: Properties): JsonSchema {
  return {
    type: 'object',
    properties: { op: { type: 'string', enum: names }, path: POINTER, ...more },
    required: ['op', 'path', ...Object.keys(more)],
    propertyNames: NO_PROTO,
  };
}

const LINE: JsonSchema = {
  type: 'integer',
  minimum: 1,
  description: 'The number of the line, counted from 1.',
};

/** The schema of the result of one line of an import. */
export const IMPORT_RESULT_SCHEMA: JsonSchema = {
  oneOf: [
    closed(
      {
        line: LINE,
        status: { type: 'integer', enum: [201] },
        id: ID,
        replayed: {
          type: 'boolean',
          enum: [true],
          description: 'The record was created by an earlier request with this `Idempotency-Key`.',
        },
      },
      ['line', 'status', 'id'],
    ),
    closed(
      {
        line: LINE,
        status: { type: 'integer', minimum: 400, maximum: 599 },
        error: { $ref: '#/components/schemas/Error' },
      },
      ['line', 'status', 'error'],
    ),
  ],
};
