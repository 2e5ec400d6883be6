import { type FilterField, filtersAmong } from '../docs/filters.js';
import type {
  MediaType,
  OpenApi,
  OperationObject,
  Parameter,
  PathItem,
  RequestBody,
  Response,
  Schema,
} from '../docs/openapi.js';
import type { References } from '../docs/references.js';
import { formFields } from './edit/form-model.js';
import { wordsOf } from './field-words.js';
import type { Field, Meaning, Resource } from './types.js';

const COLLECTION = /^\/v\d+\/([^/{}]+)$/;

/** The resources of a document: every versioned path whose GET is a list of records. A new one appears by itself. */
export function resourcesOf(document: OpenApi, references: References): Resource[] {
  return Object.keys(document.paths ?? {}).flatMap((path) => {
    const [, name] = COLLECTION.exec(path) ?? [];
    const list = itemAt(document, references, path).get;
    const record = list && recordSchema(list, references);
    return name && list && record ? [resourceOf(document, references, { path, name, list, record })] : [];
  });
}

/** The resource whose record a field such as `userId` names; undefined for any other field. */
export function referredBy(field: string, resources: readonly Resource[]): Resource | undefined {
  return resources.find(({ name, singular }) =>
    field === 'createdBy' ? name === 'api-keys' : `${singular}Id` === field,
  );
}

interface Found {
  readonly path: string;
  readonly name: string;
  readonly list: OperationObject;
  readonly record: Schema;
}

function resourceOf(document: OpenApi, references: References, { path, name, list, record }: Found): Resource {
  const collection = itemAt(document, references, path);
  const item = itemAt(document, references, `${path}/{id}`);
  const body = bodyOf(collection.post, references)['application/json']?.schema;
  const input = body === undefined ? undefined : references.schema(body);
  const imports = itemAt(document, references, `${path}/imports`).post;
  const query = parametersOf(list, references);
  const [title = name] = list.tags ?? [];
  const all = fieldsOf(name, record, query, references);
  const fields = all.filter((field) => field.name !== VARIANTS);
  const variants = all.find((field) => field.name === VARIANTS);
  const [by] = enumOf(query, 'distinct', references);
  return {
    name,
    path,
    title,
    singular: singularOf(title),
    fields,
    filters: filtersAmong(query, references).filters.map((filter) => completed(filter, fields)),
    facets: facetsOf(itemAt(document, references, `${path}/facets`).get, query, references),
    distinct: by !== undefined && variants ? { by, variants } : undefined,
    isSearchable: query.some((parameter) => parameter.name === 'q'),
    canCreate: collection.post !== undefined,
    canPatch: item.patch !== undefined,
    canDelete: item.delete !== undefined,
    canImport: imports !== undefined,
    hasChanges: itemAt(document, references, `${path}/changes`).get !== undefined,
    importTypes: Object.keys(bodyOf(imports, references)).filter((type) => type !== 'application/json'),
    importMatches: enumOf(parametersOf(imports, references), 'match', references).sort(
      (one, other) => Number(one === 'id') - Number(other === 'id'),
    ),
    exportTypes: Object.keys(contentOf(list, references)).filter((type) => type !== 'application/json'),
    input,
    form: formFields(input, references).filter((field) => !wordsOf(field.name, name)?.hasButtons),
  };
}

/**
 * A filter with the values that the document names at the field alone. Of one whose keys the person chooses, the values
 * behind `in` are one text in the document.
 */
function completed(filter: FilterField, fields: readonly Field[]): FilterField {
  const choices = fields.find(({ name }) => name === filter.name)?.schema.enum;
  const schemas = new Map<string, Schema>([
    ...(choices ? ['equals', 'ne'].map((name): [string, Schema] => [name, { enum: choices }]) : []),
    ...(filter.prefix === undefined ? [] : [['in', { type: 'array' }] as const]),
  ]);
  const operators = filter.operators.map((operator) => {
    const schema = schemas.get(operator.name);
    return schema ? { ...operator, parameter: { ...operator.parameter, schema } } : operator;
  });
  return { ...filter, operators };
}

/** The fields that the parameter `fields` of the facets takes, in the order of the filters. */
function facetsOf(facets: OperationObject | undefined, query: readonly Parameter[], references: References): string[] {
  const { schema } = parametersOf(facets, references).find(({ name }) => name === 'fields') ?? {};
  const { enum: names, pattern } = references.schema(references.schema(schema).items);
  const isTaken = (name: string) =>
    names?.includes(name) ?? (pattern !== undefined && new RegExp(pattern, 'u').test(name));
  return filtersAmong(query, references)
    .filters.filter(({ name, prefix }) => isTaken(prefix === undefined ? name : `${name}[key]`))
    .map(({ name }) => name);
}

/** What lists show only with `distinct`. */
const VARIANTS = 'variants';

/** Fields in the order of the document. The fields that only `fields` shows come last. */
function fieldsOf(resource: string, record: Schema, query: readonly Parameter[], references: References): Field[] {
  const [sortable, selectable] = ['sort', 'fields'].map((name) => enumOf(query, name, references));
  const fields = Object.entries(record.properties ?? {}).filter(
    ([name]) => !selectable?.length || selectable.includes(name),
  );
  return fields.map(([name, own]) => {
    const schema = references.schema(own);
    const members = Object.keys(schema.properties ?? {}).map((member) => `${name}.${member}`);
    return {
      name,
      schema,
      isRequired: record.required?.includes(name) ?? false,
      isMetadata: METADATA.includes(name) && !(record.required?.includes(name) ?? false),
      sort: [name, ...members].find((one) => sortable?.includes(one)),
      meaning: MEANINGS.get(NO_PAGES.has(`${resource}.${name}`) ? '' : name),
    };
  });
}

/** What fields mean beyond their schema, by their names. */
const MEANINGS: ReadonlyMap<string, Meaning> = new Map([
  ['images', 'pictures'],
  ['url', 'link'],
  ['group', 'variants'],
  ['tags', 'paths'],
]);

/** Addresses that are no pages to open. */
const NO_PAGES: ReadonlySet<string> = new Set(['webhooks.url']);

const METADATA = ['version', 'createdAt', 'updatedAt'];

function itemAt({ paths }: OpenApi, references: References, path: string): PathItem {
  return references.resolve<PathItem>(paths?.[path] ?? {});
}

/** The schema of the records in the JSON array of a list. */
function recordSchema(list: OperationObject, references: References): Schema | undefined {
  const { type, items } = references.schema(contentOf(list, references)['application/json']?.schema);
  return type === 'array' ? references.schema(items) : undefined;
}

function contentOf({ responses }: OperationObject, references: References): Readonly<Record<string, MediaType>> {
  const success = responses?.['200'];
  return success ? (references.resolve<Response>(success).content ?? {}) : {};
}

function bodyOf(operation: OperationObject | undefined, references: References): Readonly<Record<string, MediaType>> {
  return operation?.requestBody ? references.resolve<RequestBody>(operation.requestBody).content : {};
}

/** The parameters of an operation's query. */
function parametersOf(operation: OperationObject | undefined, references: References): Parameter[] {
  return (operation?.parameters ?? [])
    .map((parameter) => references.resolve<Parameter>(parameter))
    .filter((parameter) => parameter.in === 'query');
}

/** The values that a parameter such as `match` allows, or those of a list such as `sort`. */
function enumOf(query: readonly Parameter[], name: string, references: References): string[] {
  const schema = references.schema(query.find((parameter) => parameter.name === name)?.schema);
  return (references.schema(schema.items).enum ?? schema.enum ?? []).map(String);
}

/** `Products` → `product`, `API keys` → `API key`. */
function singularOf(title: string): string {
  const one = title.replace(/ies$/, 'y').replace(/s$/, '');
  return /^[A-Z]{2}/.test(one) ? one : one.charAt(0).toLowerCase() + one.slice(1);
}
