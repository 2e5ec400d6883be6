import { expect } from 'chai';
import type { HttpClient, HttpResponse } from '../../support/http-client.js';
import type { InProcessService } from '../../support/in-process-service.js';

export type Fields = Readonly<Record<string, unknown>>;

/** What is wrong with fields that are otherwise good: each fault's code and pointer. */
export type FaultyFields = readonly [what: string, fields: Fields, issues: readonly [string, string][]];

/** What the tests of all resources need to know of one. */
export interface ResourceUnderTest {
  readonly plural: string;
  /** The Cache-Control of what is read. */
  readonly cacheControl: string;
  /** Makes what its records refer to, in an empty store. */
  prepare?(client: HttpClient): Promise<void>;
  /** The required fields alone, as they are shown; others for each number. */
  fields(n: number): Fields;
  /** Laid over good fields these are refused by POST, PUT and PATCH alike. */
  readonly faulty: readonly FaultyFields[];
}

export interface Created {
  readonly id: number;
  readonly path: string;
  readonly fields: Fields;
}

/** A resource at one of its two addresses, in a running service. */
export class Collection {
  private made = 0;

  constructor(
    readonly resource: ResourceUnderTest,
    readonly path: string,
    private readonly service: InProcessService,
  ) {}

  get client(): HttpClient {
    return this.service.client;
  }

  /** An address at which nothing ever was. */
  get nowhere(): string {
    return `${this.path}/${Number.MAX_SAFE_INTEGER}`;
  }

  /** Good ones, that no record has yet. */
  fields(): Fields {
    return this.resource.fields(++this.made);
  }

  async created(fields = this.fields()): Promise<Created> {
    const response = await this.client.post(this.path, fields);
    expect(response.status, response.text).to.equal(201);
    const { id } = response.json;
    return { id, path: `${this.path}/${id}`, fields };
  }
}

/** The headers that do not differ from one request to the next. */
export function lasting({ headers }: HttpResponse): HttpResponse['headers'] {
  const { date: _, ratelimit: __, 'x-request-id': ___, ...rest } = headers;
  return rest;
}

export const MINIMAL = { headers: { Prefer: 'return=minimal' } };
