import { MAX_OPERATIONS } from '../../../../application/patch/json-patch.js';
import { type Field, type FieldTable, REFERENCE, variantFields } from '../../../../domain/fields.js';
import { MAX_ID } from '../../../../domain/record.js';
import { ATTRIBUTES, descriptionOf } from '../../../../domain/validation.js';
import {
  arrayOf,
  closed,
  flag,
  instantSchema,
  integerSchema,
  type JsonSchema,
  type ObjectSchema,
  open,
  type Properties,
  schemaRef,
  TEXT,
  text,
  textSchema,
  whole,
} from '../core/json-schema.js';
import {
  exampleRecord,
  presentFields,
  type ResourceDefinition,
  type ResourceDocs,
} from '../core/resource-definition.js';
import { FACET_LIMITS } from '../lists/facets.js';
import { VARIANTS } from '../parameters/fields.js';
import { ATTEMPT_SCHEMA } from '../resources/webhooks.js';

export const ID = integerSchema(1, MAX_ID);

/** The fields of the service, of which responses show only the id unless `fields` names them. */
const SYSTEM_FIELDS: Properties = {
  id: whole('The id, which the service gives.'),
  version: whole('The version: 1 for a new record, one more after each change.'),
  createdAt: instantSchema('When the record was created'),
  updatedAt: instantSchema('When the record last changed'),
};

const VARIANTS_SCHEMA = whole(
  'In a list with `distinct`, if `fields` names it: how many matching records this one stands for, itself among them.',
);

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

/** The schemas of all bodies of a resource and of their parts, by name. */
export function bodySchemas(resource: ResourceDefinition<never>): Readonly<Record<string, JsonSchema>> {
  const kinds = (['record', 'change', 'input', 'replacement', 'patch', 'line'] as const).map((kind) =>
    resourceSchemas(resource, kind),
  );
  const byKey = Object.entries(resource.table).flatMap(([field, { unique }]) =>
    unique ? [putSchemas(resource, field)] : [],
  );
  return Object.assign({}, ...kinds, ...byKey, issuedSchemas(resource), SHARED_SCHEMAS);
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

/** The name of an operation or schema ends so if the path has the value of this field: `ProductBySku`. */
export function bySuffix(field: string): string {
  return `By${field.charAt(0).toUpperCase()}${field.slice(1)}`;
}

/** The schema of the body of a PUT by a unique field, which may leave the field out. */
function putSchemas(resource: ResourceDefinition<never>, key: string): Readonly<Record<string, JsonSchema>> {
  const { properties, required = [] } = sentSchema(resource.table, 'replacement');
  const others = required.filter((field) => field !== key);
  const name = `${resource.docs.name}${bySuffix(key)}`;
  return withNamedParts(name, closed(properties, others), resource, 'replacement');
}

export function issuedName({ docs }: ResourceDefinition<never>): string {
  return `Issued${docs.name}`;
}

/** The schema of a record with its secret. Only the response that makes the secret has it, and no replay of it. */
function issuedSchemas(resource: ResourceDefinition<never>): Readonly<Record<string, JsonSchema>> {
  const { secret, docs } = resource;
  if (!secret) return {};
  const { name, schema, example } = secret;
  const own = open({ [name]: schema }, []);
  const examples = [{ ...recordExample(resource), [name]: example }];
  return { [issuedName(resource)]: { allOf: [schemaRef(docs.name), own], examples } };
}

/** In the schema, an example is in the document once for all responses. */
function withExample(schema: ObjectSchema, example: object): ObjectSchema {
  return { ...schema, examples: [example] };
}

function recordExample(resource: ResourceDefinition<never>): object {
  const { example, alwaysPresent = [] } = resource;
  const shown = ['id', ...Object.keys(example), ...alwaysPresent];
  return Object.fromEntries(Object.entries(exampleRecord(resource)).filter(([name]) => shown.includes(name)));
}

const DELETED: JsonSchema = {
  type: ['boolean', 'null'],
  description: 'With `true`, the record is deleted; of the other fields `version` alone counts then.',
};

/** The schemas of requests. */
const SENT: Readonly<Record<Exclude<SchemaKind, 'record' | 'change'>, (input: ObjectSchema) => ObjectSchema>> = {
  input: (input) => input,
  replacement: ({ properties, required }) => closed({ ...SYSTEM_FIELDS, ...properties }, required),
  patch: (input) => closed({ ...SYSTEM_FIELDS, ...patchProperties(input) }),
  line: (input) => closed({ ...mapValues(SYSTEM_FIELDS, nullable), ...patchProperties(input), deleted: DELETED }),
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

function recordSchema(resource: ResourceDefinition<never>): ObjectSchema {
  const { table, readOnlyFields, shownValues = {} } = resource;
  const { id, ...metadata } = SYSTEM_FIELDS as Properties & { readonly id: JsonSchema };
  const { properties } = fieldsSchema(table, meaningOf);
  const shown = Object.entries(shownValues).map(([name, values]) => [name, { ...properties[name], enum: values }]);
  const variants = variantFields(resource.fields).length > 0 && { [VARIANTS]: VARIANTS_SCHEMA };
  const all = { id, ...properties, ...Object.fromEntries(shown), ...metadata, ...variants };
  return open({ ...mapValues(all, received), ...readOnlyFields }, presentFields(resource));
}

/** A record that was created or changed, or what is left of a deleted one: one schema, because generators cannot choose. */
function changeSchema({ properties: { [VARIANTS]: _, ...properties } }: ObjectSchema): ObjectSchema {
  const deleted = flag('True if the record was deleted. The entry has no other fields than these three then.');
  return open({ ...properties, deleted }, ['id', 'version']);
}

/** Keywords that matter only to those who send a value. Limits may be raised without breaking those who receive it. */
const FOR_SENDERS = /^(?:pattern|minLength|minItems|propertyNames|maxProperties)$/;

/** The schema of a value in responses. */
function received(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(schema)
    .filter(([keyword]) => !FOR_SENDERS.test(keyword))
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
const JSON_PATCH_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  JsonPatch: { type: 'array', maxItems: MAX_OPERATIONS, items: schemaRef('JsonPatchOperation') },
  JsonPatchOperation: {
    type: 'object',
    properties: {
      op: text('What to do.', { enum: ['add', 'replace', 'test', 'remove', 'move', 'copy'] }),
      path: { ...POINTER, description: 'The place in the record, a JSON Pointer (RFC 6901).' },
      from: { ...POINTER, description: 'Required for `move` and `copy`: the place of the value.' },
      value: { description: 'Required for `add`, `replace` and `test`: any JSON value.' },
    },
    required: ['op', 'path'],
    propertyNames: { not: { const: '__proto__' } },
  },
};

/** The schemas that the operations of several resources refer to. */
const SHARED_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  ...JSON_PATCH_SCHEMAS,
  Facet: withExample(
    open({
      field: text('The name of the field; `attributes[KEY]` for an attribute.'),
      values: arrayOf(schemaRef('FacetValue'), FACET_LIMITS.max, 'The values, the one that most records have first.'),
      more: flag('Whether there are more values.'),
    }),
    { field: 'brand', values: [{ value: 'Nordlicht', count: 12 }], more: true },
  ),
  FacetValue: open({
    value: { description: 'A text; of an attribute also a number or a boolean.' },
    count: whole('The number of records that have this value.'),
  }),
  ImportResult: open(
    {
      line: whole('The number of the line, counted from 1 without blank ones.'),
      status: whole(
        '201 for a new record, 200 for one that existed, 204 for a deleted one; else the status that a request with this record alone would get.',
        200,
        599,
      ),
      id: whole('The id of the record, with 201, 200 and 412; a dry run has none with 201.'),
      version: whole('With `match`: the version of the record, also with 412.'),
      unchanged: flag('With `match`: true if the line changed nothing; with 204, if there was nothing to delete.'),
      replayed: flag('With 201: true if an earlier request with this `Idempotency-Key` created the record.'),
      error: schemaRef('Error'),
    },
    ['line', 'status'],
  ),
  WebhookDelivery: ATTEMPT_SCHEMA,
};

type Describe = (field: Field) => string;

/** What a field means, without its rules, which the body that creates a record has. Parts with a name have one schema. */
function meaningOf(field: Field): string {
  if (field.kind === 'choice' || field.kind === 'object') return descriptionOf(field);
  const [meaning] = field.description.split(';');
  return `${meaning}${'unit' in field && field.unit ? `, in ${field.unit}` : ''}.`;
}

/** The schema of an object with these fields, as clients send it. Unknown fields are refused. */
export function fieldsSchema(table: FieldTable, describe: Describe = descriptionOf): ObjectSchema {
  const fields = Object.entries(table);
  return closed(
    Object.fromEntries(fields.map(([name, field]) => [name, fieldSchema(field, describe)])),
    fields.filter(([, { required }]) => required).map(([name]) => name),
  );
}

function fieldSchema(field: Field, describe: Describe): JsonSchema {
  return { ...valueSchema(field, describe), description: describe(field) };
}

export function valueSchema(field: Field, describe: Describe = descriptionOf): JsonSchema {
  switch (field.kind) {
    case 'text':
      return { ...TEXT, ...textSchema(field) };
    case 'code':
      return { ...TEXT, pattern: field.pattern.source };
    case 'choice':
      return { ...TEXT, enum: field.values };
    case 'integer':
      return integerSchema(field.min, field.max);
    case 'reference':
      return integerSchema(REFERENCE.min, REFERENCE.max);
    case 'instant':
      return { ...TEXT, format: 'date-time' };
    case 'attributes':
      return ATTRIBUTES_SCHEMA;
    case 'object':
      return fieldsSchema(field.fields, describe);
    case 'list':
      // `uniqueItems` cannot compare parts of elements, and turns arrays into sets in generated clients.
      return {
        type: 'array',
        items: fieldSchema(field.of, describe),
        minItems: field.min,
        maxItems: field.max,
      };
  }
}

const ATTRIBUTES_SCHEMA: JsonSchema = {
  type: 'object',
  maxProperties: ATTRIBUTES.maxKeys,
  // Some JSON parsers set the prototype of an object through this name.
  propertyNames: { ...textSchema(ATTRIBUTES.key), not: { const: '__proto__' } },
  // Generators of clients read only `additionalProperties`: a map of any values. Of several types they make a class for
  // each value. Validators read the pattern, which every key matches.
  additionalProperties: true,
  patternProperties: {
    '^': {
      anyOf: [
        { ...TEXT, ...textSchema(ATTRIBUTES.text) },
        { type: 'number', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
        { type: 'boolean' },
      ],
    },
  },
};
