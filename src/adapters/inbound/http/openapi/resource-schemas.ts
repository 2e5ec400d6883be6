import { MAX_OPERATIONS } from '../../../../application/patch/json-patch.js';
import type { FieldTable } from '../../../../domain/fields.js';
import { MAX_ID } from '../../../../domain/record.js';
import type { ResourceDocs } from '../core/description.js';
import {
  closed,
  instantSchema,
  integerSchema,
  type JsonSchema,
  type ObjectSchema,
  open,
  type Properties,
  schemaRef,
  TEXT,
} from '../core/json-schema.js';
import type { ResourceDefinition } from '../core/resource-definition.js';
import { FACET_LIMITS } from '../list/facet-query-parser.js';
import { fieldsSchema, meaningOf } from './field-schema.js';

export const ID = integerSchema(1, MAX_ID);

/** The fields of the service, of which responses show only the id unless `fields` names them. */
const SYSTEM_FIELDS: Properties = {
  id: { ...ID, description: 'The id, which the service gives: an integer from 1.' },
  version: {
    ...integerSchema(1, MAX_ID),
    description: 'The version: 1 for a new record, and one more after each change.',
  },
  createdAt: instantSchema('When the record was created, to the millisecond'),
  updatedAt: instantSchema('When the record was last changed, to the millisecond'),
};

export type SchemaKind = 'record' | 'change' | 'input' | 'replacement' | 'patch' | 'line';

/** The names of a resource's schemas in the document. */
export function schemaNames({ name }: ResourceDocs): Readonly<Record<SchemaKind, string>> {
  return {
    record: name,
    change: `${name}Change`,
    input: `${name}Input`,
    replacement: `${name}Replacement`,
    patch: `${name}Patch`,
    line: `${name}Line`,
  };
}

/** The schemas of a kind of body, by name: that of the resource first, then those of its parts. */
export function resourceSchemas(
  resource: ResourceDefinition<never>,
  kind: SchemaKind,
): Readonly<Record<string, JsonSchema>> {
  const { [kind]: name } = schemaNames(resource.docs);
  if (kind === 'change') return withNamedParts(name, changeSchema(recordSchema(resource)), resource, kind);
  const schema = kind === 'record' ? recordSchema(resource) : sentSchema(resource.table, kind);
  const shown = kind === 'record' ? withExample(schema, recordExample(resource)) : schema;
  return withNamedParts(name, shown, resource, kind);
}

/** The schema of the body of a PUT by a unique field, which may leave the field out. */
export function putSchemas(
  resource: ResourceDefinition<never>,
  name: string,
  key: string,
): Readonly<Record<string, JsonSchema>> {
  const { properties, required = [] } = sentSchema(resource.table, 'replacement');
  const schema = closed(
    properties,
    required.filter((field) => field !== key),
  );
  return withNamedParts(name, schema, resource, 'replacement');
}

/** The schema of a record with its secret. Only the response that makes the secret has it, and no replay of it. */
export function issuedSchemas(resource: ResourceDefinition<never>): Readonly<Record<string, JsonSchema>> {
  const { properties, required } = recordSchema(resource);
  const { name, schema: secret, example } = secretOf(resource);
  const schema = withExample(open({ ...properties, [name]: secret }, required), {
    ...recordExample(resource),
    [name]: example,
  });
  return withNamedParts(issuedName(resource), schema, resource, 'record');
}

export function issuedName({ docs }: ResourceDefinition<never>): string {
  return `Issued${docs.name}`;
}

/** @throws Error if the records have no secret */
function secretOf({ docs, secret }: ResourceDefinition<never>) {
  if (!secret) throw new Error(`${docs.plural} have no secret.`);
  return secret;
}

export const EXAMPLE_TIME = '2026-01-31T12:00:00.000Z';

/** In the schema, an example is in the document once for all responses. */
function withExample(schema: ObjectSchema, example: object): ObjectSchema {
  return { ...schema, examples: [example] };
}

function recordExample({
  example,
  alwaysPresent = [],
  readOnlyFields = {},
}: ResourceDefinition<never>): object {
  const more = alwaysPresent
    .filter((name) => !Object.hasOwn(example, name))
    .map((name) => [
      name,
      (readOnlyFields[name]?.['examples'] as unknown[] | undefined)?.[0] ?? EXAMPLE_TIME,
    ]);
  return { id: 1, ...example, ...Object.fromEntries(more) };
}

const DELETED: JsonSchema = {
  type: ['boolean', 'null'],
  description: 'With `true`, the record is deleted; of the other fields `version` alone counts then.',
};

/** The schemas of requests. */
const SENT: Readonly<
  Record<Exclude<SchemaKind, 'record' | 'change'>, (input: ObjectSchema) => ObjectSchema>
> = {
  input: (input) => input,
  replacement: ({ properties, required }) => closed({ ...SYSTEM_FIELDS, ...properties }, required),
  patch: (input) => closed({ ...SYSTEM_FIELDS, ...patchProperties(input) }),
  line: (input) =>
    closed({ ...mapValues(SYSTEM_FIELDS, nullable), ...patchProperties(input), deleted: DELETED }),
};

/** The rules of the fields are in words once, in the body that creates a record. */
function sentSchema(table: FieldTable, kind: keyof typeof SENT): ObjectSchema {
  const input = fieldsSchema(table);
  if (kind === 'input') return input;
  const fields = Object.entries(table).map(([name, field]) => [
    name,
    { ...input.properties[name], description: meaningOf(field) },
  ]);
  return SENT[kind]({ ...input, properties: Object.fromEntries(fields) });
}

function recordSchema({
  table,
  readOnlyFields,
  alwaysPresent = [],
  shownValues = {},
}: ResourceDefinition<never>): ObjectSchema {
  const { id, ...metadata } = SYSTEM_FIELDS as Properties & { readonly id: JsonSchema };
  const { properties, required = [] } = received(fieldsSchema(table, meaningOf)) as ObjectSchema;
  const shown = Object.entries(shownValues).map(([name, values]) => [
    name,
    { ...properties[name], enum: values },
  ]);
  return open({ id, ...properties, ...Object.fromEntries(shown), ...metadata, ...readOnlyFields }, [
    'id',
    ...required,
    ...alwaysPresent,
  ]);
}

/** A record that was created or changed, or what is left of a deleted one: one schema, because generators cannot choose. */
function changeSchema({ properties }: ObjectSchema): ObjectSchema {
  const deleted: JsonSchema = {
    type: 'boolean',
    description: 'True if the record was deleted. The entry has no other fields than these three then.',
  };
  return open({ ...properties, deleted }, ['id', 'version']);
}

/** Keywords that matter only to those who send a value. Limits may be raised without breaking those who receive it. */
const FOR_SENDERS = ['pattern', 'minLength', 'minItems', 'propertyNames', 'maxProperties'];

/** The schema of a value in responses. */
function received(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(schema)
    .filter(([keyword]) => !FOR_SENDERS.includes(keyword))
    .map(([keyword, value]): [string, unknown] => {
      if (keyword === 'properties' || keyword === 'patternProperties')
        return [keyword, mapValues(value as Properties, received)];
      if (keyword === 'additionalProperties') return [keyword, true];
      if (keyword === 'anyOf') return [keyword, (value as JsonSchema[]).map(received)];
      return [keyword, keyword === 'items' ? received(value as JsonSchema) : value];
    });
  return Object.fromEntries(entries);
}

/** The properties of a merge patch (RFC 7396): null removes an optional field, and objects are merged. */
function patchProperties({ properties, required = [] }: ObjectSchema): Properties {
  const all = Object.entries(properties).map(([name, schema]) => {
    const merged = mergeable(schema);
    return [name, required.includes(name) ? merged : nullable(merged)];
  });
  return Object.fromEntries(all);
}

function mergeable(schema: JsonSchema): JsonSchema {
  if (schema['type'] !== 'object') return schema;
  const { description } = schema;
  if (schema['properties']) return { ...closed(patchProperties(schema as ObjectSchema)), description };
  const { maxProperties: _ofResult, patternProperties, ...rest } = schema;
  return { ...rest, patternProperties: mapValues(patternProperties as Properties, nullable) };
}

function nullable({ type, anyOf, enum: values, ...rest }: JsonSchema): JsonSchema {
  if (anyOf) return { anyOf: [...(anyOf as JsonSchema[]), { type: 'null' }], ...rest };
  return { type: [type, 'null'], ...(values !== undefined && { enum: [values, null].flat() }), ...rest };
}

/** Gives names to the parts of a schema for which the documentation has some, so that generated types have them too. */
function withNamedParts(
  name: string,
  schema: ObjectSchema,
  { docs: { schemaNames: partNames = {} }, shownValues = {} }: ResourceDefinition<never>,
  kind: SchemaKind,
): Record<string, JsonSchema> {
  const parts: Record<string, JsonSchema> = {};
  const refer = (part: JsonSchema, partName: string, isSame: boolean): JsonSchema => {
    if ([part['type']].flat()[0] === 'array')
      return { ...part, items: refer(part['items'] as JsonSchema, partName, isSame) };
    // In a merge patch, null or an object without its required members: a type of this place only.
    if (Array.isArray(part['type'])) return part;
    const isShown = kind === 'record' || kind === 'change';
    // Fewer values than a record shows. Go has one scope for the values of all named types.
    if (part['enum'] && !isShown && !isSame) return part;
    const full = isShown || part['enum'] ? partName : `${partName}Input`;
    parts[full] = part;
    return schemaRef(full);
  };
  const properties = Object.entries(schema.properties).map(([field, property]) => [
    field,
    partNames[field] ? refer(property, partNames[field], !Object.hasOwn(shownValues, field)) : property,
  ]);
  return { [name]: { ...schema, properties: Object.fromEntries(properties) }, ...parts };
}

function mapValues(values: Properties, map: (value: JsonSchema) => JsonSchema): Properties {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}

const POINTER: JsonSchema = {
  type: 'string',
  format: 'json-pointer',
  pattern: '^(/([^~/]|~[01])*)*$',
};

/** The schemas of a JSON Patch (RFC 6902 section 4). Unknown members of an operation are ignored. */
export const JSON_PATCH_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  JsonPatch: { type: 'array', maxItems: MAX_OPERATIONS, items: schemaRef('JsonPatchOperation') },
  JsonPatchOperation: {
    type: 'object',
    properties: {
      op: {
        type: 'string',
        enum: ['add', 'replace', 'test', 'remove', 'move', 'copy'],
        description: 'What to do.',
      },
      path: { ...POINTER, description: 'The place in the record, a JSON Pointer (RFC 6901).' },
      from: { ...POINTER, description: 'Required for `move` and `copy`: the place of the value.' },
      value: { description: 'Required for `add`, `replace` and `test`: any JSON value.' },
    },
    required: ['op', 'path'],
    propertyNames: { not: { const: '__proto__' } },
  },
};

/** The schemas of the values of one field. */
export const FACET_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Facet: withExample(
    open({
      field: { ...TEXT, description: 'The name of the field; `attributes[KEY]` for an attribute.' },
      values: {
        type: 'array',
        maxItems: FACET_LIMITS.max,
        items: schemaRef('FacetValue'),
        description: 'The values, the one that most records have first.',
      },
      more: { type: 'boolean', description: 'Whether there are more values.' },
    }),
    {
      field: 'brand',
      values: [
        { value: 'Nordlicht', count: 12 },
        { value: 'Acme', count: 3 },
      ],
      more: true,
    },
  ),
  FacetValue: open({
    value: { description: 'A text; of an attribute also a number or a boolean.' },
    count: { ...integerSchema(1, MAX_ID), description: 'The number of records that have this value.' },
  }),
};

/** The schema of the result of one line of an import. */
export const IMPORT_RESULT_SCHEMA: JsonSchema = open(
  {
    line: {
      ...integerSchema(1, MAX_ID),
      description: 'The number of the line, counted from 1 without blank ones.',
    },
    status: {
      ...integerSchema(200, 599),
      description:
        '201 for a new record, 200 for one that existed, 204 for a deleted one; else the status that a request with this record alone would get.',
    },
    id: { ...ID, description: 'The id of the record, with 201, 200 and 412; a dry run has none with 201.' },
    version: {
      ...integerSchema(1, MAX_ID),
      description: 'With `match`: the version of the record, also with 412.',
    },
    unchanged: {
      type: 'boolean',
      description:
        'With `match`: true if the line changed nothing; with 204, if there was nothing to delete.',
    },
    replayed: {
      type: 'boolean',
      description: 'With 201: true if an earlier request with this `Idempotency-Key` created the record.',
    },
    error: schemaRef('Error'),
  },
  ['line', 'status'],
);
