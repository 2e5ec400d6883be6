import { expect } from 'chai';
import type { ResourceDefinition } from '#src/adapters/inbound/http/core/resource-definition.js';
import { DEFINITIONS } from '#src/composition/resources.js';
import type { HttpClient, HttpResponse, Sender } from '../../support/http-client.js';

export type Fields = Readonly<Record<string, unknown>>;

/** Invalid fields, with the code and the pointer of each expected issue. */
export type InvalidFields = readonly [title: string, fields: Fields, issues: readonly string[]];

/** The properties of a resource that the shared tests need. */
export interface ResourceUnderTest {
  readonly plural: string;
  /** The Cache-Control of reads. */
  readonly cacheControl: string;
  /** Creates the records that the resource refers to, in an empty store. */
  prepare?(client: HttpClient): Promise<void>;
  /** @returns the required fields in the order of responses, with different values for each number */
  fields(n: number): Fields;
  /** Fields that POST, PUT and PATCH reject when they are merged into valid fields. */
  readonly invalid: readonly InvalidFields[];
}

export interface CreatedRecord {
  readonly id: number;
  readonly path: string;
  readonly fields: Fields;
}

type Definition = Pick<ResourceDefinition<never>, 'table' | 'example' | 'fields' | 'isSearchable'>;

/** @param plural the noun in the path */
export function definitionOf(plural: string): Definition {
  return (
    Object.values<Definition & { path: string }>(DEFINITIONS).find(({ path }) => path === plural) ?? expect.fail(plural)
  );
}

/** A collection at one of its two paths, in a running service. */
export class Collection {
  private count = 0;

  constructor(
    readonly resource: ResourceUnderTest,
    readonly path: string,
    readonly client: Sender,
  ) {}

  get definition() {
    return definitionOf(this.resource.plural);
  }

  /** The path of a record that never existed. */
  get missingPath(): string {
    return `${this.path}/${Number.MAX_SAFE_INTEGER}`;
  }

  /** @returns valid fields that no record has yet */
  fields(): Fields {
    return this.resource.fields(++this.count);
  }

  async create(fields = this.fields()): Promise<CreatedRecord> {
    const response = await this.client.post(this.path, fields);
    expect(response.status, response.text).to.equal(201);
    const { id } = response.json;
    return { id, path: `${this.path}/${id}`, fields };
  }
}

/** @returns the headers that do not change from one request to the next */
export function stableHeaders({ headers }: HttpResponse): HttpResponse['headers'] {
  const { date: _, ratelimit: __, 'x-request-id': ___, ...rest } = headers;
  return rest;
}

export const MINIMAL = { headers: { Prefer: 'return=minimal' } };
