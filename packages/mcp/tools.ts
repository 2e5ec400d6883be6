import { createHash } from 'node:crypto';
import type { CallOptions, Catalogue } from '#packages/client/index.js';
import { canonicalJson } from '#src/shared/json.js';
import type { ApiDocument, Changes, Schema } from './api-document.js';
import { type ArgumentIssue, argumentIssue } from './argument-issue.js';
import {
  FACET_ARGUMENTS,
  facetArguments,
  filterIssues,
  LIST_ARGUMENTS,
  listArguments,
  listQuery,
} from './list-arguments.js';
import { RemoteCollection, type VersionedRecord } from './remote-collection.js';

/** The resources that have tools. API keys have none: a model must not give itself access. */
const RESOURCES: readonly Omit<Resource, 'collection'>[] = [
  { resource: 'products', one: 'product', unique: 'sku' },
  { resource: 'users', one: 'user' },
  { resource: 'orders', one: 'order' },
];

interface Resource {
  readonly resource: string;
  /** One record, in words. */
  readonly one: string;
  /** The field by which a tool finds or creates a record. */
  readonly unique?: string;
  readonly collection: RemoteCollection;
}

/** The arguments of a call, whose names and types the schema of the tool allows. */
export interface ToolArguments {
  readonly [name: string]: unknown;
  readonly id: number;
  readonly version: number;
  readonly record: object;
  readonly changes?: object;
  readonly fields?: object;
  readonly remove?: readonly string[];
  readonly copy?: number;
  readonly count?: boolean;
  readonly filter?: object;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: {
    readonly type: 'object';
    readonly properties: Record<string, Schema>;
    readonly required: string[];
    readonly additionalProperties: false;
  };
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: boolean;
    readonly openWorldHint: false;
  };
  readonly collection: RemoteCollection;
  /** Returns what is wrong with arguments of the right types, beyond what the service validates. */
  readonly issues?: (args: ToolArguments) => ArgumentIssue[];
  /** @throws RequestRefused, Unavailable */
  readonly call: (args: ToolArguments, options: CallOptions) => Promise<object>;
}

const POSITIVE: Schema = { type: 'integer', minimum: 1 };
const ID: Schema = { ...POSITIVE, description: 'The id of the record.' };
const VERSION: Schema = { ...POSITIVE, description: 'The version that you read.' };

/** Returns the tools that the credential may use. @param allowDelete whether tools that delete are among them */
export async function offeredTools(document: ApiDocument, catalogue: Catalogue, allowDelete: boolean): Promise<Tool[]> {
  const offered = RESOURCES.map(async (names) => {
    const collection = new RemoteCollection(catalogue, names.resource);
    const [mayRead, mayWrite] = await Promise.all([collection.mayRead(), collection.mayWrite()]);
    const resource = { ...names, collection };
    const { unique } = names;
    return [
      ...(mayRead ? readingTools(document, resource) : []),
      ...(mayWrite ? [creatingTool(document, resource)] : []),
      ...(mayRead && mayWrite ? [updatingTool(document, resource)] : []),
      ...(mayRead && mayWrite && unique ? [upsertingTool(document, resource, unique)] : []),
      ...(mayWrite && allowDelete ? [deletingTool(resource)] : []),
    ];
  });
  return (await Promise.all(offered)).flat();
}

function readingTools(document: ApiDocument, { resource, one, collection }: Resource): Tool[] {
  const annotations = { readOnlyHint: true, openWorldHint: false } as const;
  const facets = `list${capitalized(one)}Facets`;
  const writable = document.body(`create${capitalized(one)}`, 'application/json')['properties'] ?? {};
  const shown = ['id', ...Object.keys(writable), 'version'];
  return [
    {
      name: `search_${resource}`,
      description: `Search ${resource}, in pages.`,
      inputSchema: inputSchema(listArguments(document, `list${capitalized(resource)}`), []),
      annotations,
      collection,
      issues: ({ filter = {} }) => filterIssues(filter, LIST_ARGUMENTS),
      call: (args, options) => collection.list(listQuery(args, shown), { ...options, count: args.count === true }),
    },
    {
      name: `read_${one}`,
      description: `Read one ${one} and its version.`,
      inputSchema: inputSchema({ id: ID }, ['id']),
      annotations,
      collection,
      call: ({ id }, options) => collection.read(id, options),
    },
    ...(document.has(facets) ? [countingTool(document, facets, { resource, collection }, annotations)] : []),
  ];
}

function countingTool(
  document: ApiDocument,
  facets: string,
  { resource, collection }: Pick<Resource, 'resource' | 'collection'>,
  annotations: Tool['annotations'],
): Tool {
  return {
    name: `count_${resource}_by`,
    description: `Count ${resource} by their values in some fields. A field's own equals, .in and .prefix filters do not narrow its values.`,
    inputSchema: inputSchema(facetArguments(document, facets, `search_${resource}`), ['fields']),
    annotations,
    collection,
    issues: ({ filter = {} }) => filterIssues(filter, FACET_ARGUMENTS),
    call: ({ filter = {}, ...own }, options) => collection.facets({ ...filter, ...own }, options),
  };
}

function creatingTool(document: ApiDocument, { one, collection }: Resource): Tool {
  return {
    name: `create_${one}`,
    description: `Create a ${one}. The same call again creates nothing and returns the first result.`,
    inputSchema: inputSchema(
      {
        record: {
          ...document.body(`create${capitalized(one)}`, 'application/json'),
          description: `The ${one}.`,
        },
        copy: { ...POSITIVE, default: 1, description: 'For one more identical record: 2, 3, …' },
      },
      ['record'],
    ),
    annotations: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
    collection,
    call: async ({ record, copy = 1 }, options) => {
      const created = await collection.create(record, idempotencyKey(record, copy), options);
      return created.isReplayed ? replayed(created.record, one, copy) : created.record;
    },
  };
}

/** A change needs the scope of reading too. */
function updatingTool(document: ApiDocument, { one, collection }: Resource): Tool {
  const patch = patchOf(document, one, 'changes', 'A JSON Merge Patch: an array replaces the whole array.');
  return {
    name: `update_${one}`,
    description: `Change some fields of a ${one}, if it still has the version that you read.`,
    inputSchema: inputSchema({ id: ID, version: VERSION, ...patch.arguments }, ['id', 'version', ...patch.required]),
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: false,
    },
    collection,
    issues: patch.issues,
    call: ({ id, version, ...args }, options) =>
      collection.update(id, version, mergePatch(args.changes, args.remove), options),
  };
}

/** A change needs the scope of reading too. */
function upsertingTool(document: ApiDocument, { one, collection }: Resource, key: string): Tool {
  const patch = patchOf(document, one, 'fields', 'A JSON Merge Patch, or the fields of the new record.', key);
  const description = `${patch.properties[key]?.['description']}`;
  return {
    name: `upsert_${one}`,
    description:
      `Change some fields of the ${one} with this ${key}, whatever its version, or create it if there is none. ` +
      'Fields that you leave out stay as they are.',
    inputSchema: inputSchema({ [key]: { type: 'string', description }, ...patch.arguments }, [key, ...patch.required]),
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: false,
    },
    collection,
    issues: (args) => [
      ...(/^\.\.?$/.test(`${args[key]}`) ? [argumentIssue('invalid_format', key, 'cannot be "." or ".." here')] : []),
      ...patch.issues(args),
    ],
    call: ({ fields, remove, ...args }, options) =>
      collection.upsert({ [key]: `${args[key]}` }, mergePatch(fields, remove), options),
  };
}

interface Patch extends Pick<Changes, 'properties'> {
  readonly arguments: Record<string, Schema>;
  readonly required: readonly string[];
  readonly issues: (args: ToolArguments) => ArgumentIssue[];
}

/**
 * Returns the arguments that change a record: the fields to set, and the names of those to remove, if any can be.
 * @param argument the name of the first
 * @param key a field that the call has elsewhere
 */
function patchOf(
  document: ApiDocument,
  one: string,
  argument: 'changes' | 'fields',
  description: string,
  key?: string,
): Patch {
  const { schema, properties, removable } = document.changes(`patch${capitalized(one)}`, `create${capitalized(one)}`);
  const own = Object.fromEntries(Object.entries(properties).filter(([name]) => name !== key));
  const names = removable.filter((name) => name !== key);
  const remove: Schema = {
    type: 'array',
    items: { type: 'string', enum: names },
    description: 'The fields to remove.',
  };
  return {
    properties,
    arguments: {
      [argument]: { ...schema, properties: own, description },
      ...(names.length > 0 && { remove }),
    },
    required: names.length > 0 ? [] : [argument],
    issues: (args) => patchIssues(args, argument, names),
  };
}

function patchIssues(
  { remove = [], ...args }: ToolArguments,
  argument: 'changes' | 'fields',
  removable: readonly string[],
): ArgumentIssue[] {
  const { [argument]: set } = args;
  if (!set && remove.length === 0)
    return [argumentIssue('required', argument, 'is required, unless remove names a field')];
  return remove.flatMap((name) => {
    if (!removable.includes(name)) {
      const rule = `can name only ${removable.join(', ')}, such as ["${removable[0]}"]`;
      return [argumentIssue('invalid_format', 'remove', rule)];
    }
    const value = (set as Readonly<Record<string, unknown>> | undefined)?.[name];
    if (value === undefined || value === null) return [];
    return [argumentIssue('invalid_format', 'remove', `names ${name}, to which ${argument} gives a value`)];
  });
}

/** RFC 7396: null removes. */
function mergePatch(set: object = {}, remove: readonly string[] = []): object {
  return { ...set, ...Object.fromEntries(remove.map((name) => [name, null])) };
}

function deletingTool({ one, collection }: Resource): Tool {
  return {
    name: `delete_${one}`,
    description: `Delete a ${one} permanently, if it still has the version that you read.`,
    inputSchema: inputSchema({ id: ID, version: VERSION }, ['id', 'version']),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    collection,
    call: async ({ id, version }, options) => {
      await collection.delete(id, version, options);
      return { id, deleted: true };
    },
  };
}

/**
 * Returns the same key for the same record and copy, so that a call that is made again, even by another process, creates
 * nothing. Keys belong to one credential and one collection.
 */
function idempotencyKey(record: object, copy: number): string {
  return `mcp-${createHash('sha256').update(canonicalJson({ record, copy })).digest('hex')}`;
}

function replayed(record: VersionedRecord, one: string, copy: number): object {
  const note =
    `The same call created this ${one} before; it is shown as it was then. ` +
    `For one more ${one} like it, call again with copy: ${copy + 1}.`;
  return { ...record, note };
}

function inputSchema(properties: Record<string, Schema>, required: string[]): Tool['inputSchema'] {
  return { type: 'object', properties, required, additionalProperties: false };
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
