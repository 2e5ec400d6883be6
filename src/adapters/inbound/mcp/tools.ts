import { createHash } from 'node:crypto';
import type {
  RemoteCatalogue,
  RequestOptions,
  VersionedRecord,
} from '../../../application/ports/remote-catalogue.js';
import { canonicalJson } from '../../../shared/canonical-json.js';
import type { ApiDocument, Schema } from './api-document.js';
import type { ArgumentIssue } from './argument-issue.js';
import { filterIssues, listArguments, listQuery } from './list-arguments.js';

/** The resources that have tools. API keys have none: a model must not give itself access. */
const RESOURCES = [
  { resource: 'products', one: 'product' },
  { resource: 'users', one: 'user' },
  { resource: 'orders', one: 'order' },
] as const;

type Resource = (typeof RESOURCES)[number];

/** The arguments of a call, whose names and types the schema of the tool allows. */
export interface ToolArguments {
  readonly [name: string]: unknown;
  readonly id: number;
  readonly version: number;
  readonly record: object;
  readonly changes: object;
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
  readonly resource: string;
  /** Returns what is wrong with arguments of the right types, beyond what the service validates. */
  readonly issues?: (args: ToolArguments) => ArgumentIssue[];
  /** @throws RequestRefused, AppError */
  readonly call: (
    args: ToolArguments,
    catalogue: RemoteCatalogue,
    options: RequestOptions,
  ) => Promise<object>;
}

const POSITIVE: Schema = { type: 'integer', minimum: 1 };
const ID: Schema = { ...POSITIVE, description: 'The id of the record.' };
const VERSION: Schema = { ...POSITIVE, description: 'The version that you read.' };

/** Returns the tools that the credential may use. @param allowDelete whether tools that delete are among them */
export async function offeredTools(
  document: ApiDocument,
  catalogue: RemoteCatalogue,
  allowDelete: boolean,
): Promise<Tool[]> {
  const offered = RESOURCES.map(async (one) => {
    const [mayRead, mayWrite] = await Promise.all([
      catalogue.may('read', one.resource),
      catalogue.may('write', one.resource),
    ]);
    return [
      ...(mayRead ? readingTools(document, one) : []),
      ...(mayWrite ? [creatingTool(document, one)] : []),
      ...(mayRead && mayWrite ? [updatingTool(document, one)] : []),
      ...(mayWrite && allowDelete ? [deletingTool(one)] : []),
    ];
  });
  return (await Promise.all(offered)).flat();
}

function readingTools(document: ApiDocument, { resource, one }: Resource): Tool[] {
  const annotations = { readOnlyHint: true, openWorldHint: false } as const;
  const writable = document.body(`create${capitalized(one)}`, 'application/json')['properties'] ?? {};
  const shown = ['id', ...Object.keys(writable), 'version'];
  return [
    {
      name: `search_${resource}`,
      description: `Search ${resource}, in pages.`,
      inputSchema: inputSchema(listArguments(document, `list${capitalized(resource)}`), []),
      annotations,
      resource,
      issues: ({ filter = {} }) => filterIssues(filter),
      call: (args, catalogue, options) =>
        catalogue.list(resource, listQuery(args, shown), {
          ...options,
          isCounted: args.count === true,
        }),
    },
    {
      name: `read_${one}`,
      description: `Read one ${one} and its version.`,
      inputSchema: inputSchema({ id: ID }, ['id']),
      annotations,
      resource,
      call: ({ id }, catalogue, options) => catalogue.read(resource, id, options),
    },
  ];
}

function creatingTool(document: ApiDocument, { resource, one }: Resource): Tool {
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
    resource,
    call: async ({ record, copy = 1 }, catalogue, options) => {
      const created = await catalogue.create(resource, record, idempotencyKey(record, copy), options);
      return created.isReplayed ? replayed(created.record, one, copy) : created.record;
    },
  };
}

/** A change needs the scope of reading too. */
function updatingTool(document: ApiDocument, { resource, one }: Resource): Tool {
  return {
    name: `update_${one}`,
    description: `Change some fields of a ${one}, if it still has the version that you read.`,
    inputSchema: inputSchema(
      {
        id: ID,
        version: VERSION,
        changes: {
          ...document.changes(`patch${capitalized(one)}`, `create${capitalized(one)}`),
          description: 'A JSON Merge Patch: null removes a field, an array replaces the whole array.',
        },
      },
      ['id', 'version', 'changes'],
    ),
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: false,
    },
    resource,
    call: ({ id, version, changes }, catalogue, options) =>
      catalogue.update(resource, id, version, changes, options),
  };
}

function deletingTool({ resource, one }: Resource): Tool {
  return {
    name: `delete_${one}`,
    description: `Delete a ${one} permanently, if it still has the version that you read.`,
    inputSchema: inputSchema({ id: ID, version: VERSION }, ['id', 'version']),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    resource,
    call: async ({ id, version }, catalogue, options) => {
      await catalogue.delete(resource, id, version, options);
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
