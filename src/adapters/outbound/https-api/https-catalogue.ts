import type {
  ErrorBody,
  RemoteCatalogue,
  RemotePage,
  RemoteRecord,
  RequestOptions,
  VersionedRecord,
} from '../../../application/ports/remote-catalogue.js';
import { RequestRefused } from '../../../application/ports/remote-catalogue.js';
import { type HttpsRequest, type HttpsResponse, type HttpsTarget, sendHttps } from './https-client.js';

/** A running service behind its HTTP API. Each call is one request, which is never repeated. */
export class HttpsCatalogue implements RemoteCatalogue {
  constructor(private readonly target: HttpsTarget) {}

  async describe(): Promise<unknown> {
    return parse(await this.send({ method: 'GET', path: '/openapi.json' }));
  }

  /**
   * Reads one id, or posts nothing: the service decides access before it looks at a body, and then refuses a body that
   * has no media type.
   */
  async may(access: 'read' | 'write', resource: string): Promise<boolean> {
    const path = collectionPath(resource);
    try {
      if (access === 'read') await this.send({ method: 'GET', path: `${path}?limit=1&fields=id` });
      else await this.send({ method: 'POST', path });
      return true;
    } catch (error) {
      if (!(error instanceof RequestRefused)) throw error;
      if (error.lacksScope) return false;
      if (access === 'write' && (error.status === 400 || error.status === 415)) return true;
      throw error;
    }
  }

  async list(
    resource: string,
    query: ReadonlyMap<string, string>,
    { signal, isCounted }: RequestOptions & { readonly isCounted: boolean },
  ): Promise<RemotePage> {
    const path = `${collectionPath(resource)}?${new URLSearchParams([...query])}`;
    const headers = isCounted ? { Prefer: 'count=exact' } : {};
    const response = await this.send({ method: 'GET', path, headers, signal });
    const { link, 'x-total-count': total } = response.headers;
    const nextCursor = nextCursorIn(String(link ?? ''));
    return {
      records: parse(response) as RemoteRecord[],
      ...(nextCursor !== undefined && { nextCursor }),
      ...(total !== undefined && { total: Number(total) }),
    };
  }

  async read(resource: string, id: number, { signal }: RequestOptions): Promise<VersionedRecord> {
    return versioned(await this.send({ method: 'GET', path: itemPath(resource, id), signal }));
  }

  async create(resource: string, record: object, idempotencyKey: string, { signal }: RequestOptions) {
    const headers = { 'Idempotency-Key': idempotencyKey };
    const path = collectionPath(resource);
    const response = await this.send({ method: 'POST', path, headers, body: record, signal });
    return {
      record: versioned(response),
      isReplayed: response.headers['idempotency-replayed'] !== undefined,
    };
  }

  async update(
    resource: string,
    id: number,
    version: number,
    changes: object,
    { signal }: RequestOptions,
  ): Promise<VersionedRecord> {
    const headers = { 'If-Match': entityTag(version), 'Content-Type': 'application/merge-patch+json' };
    const path = itemPath(resource, id);
    return versioned(await this.send({ method: 'PATCH', path, headers, body: changes, signal }));
  }

  async delete(resource: string, id: number, version: number, { signal }: RequestOptions): Promise<void> {
    const headers = { 'If-Match': entityTag(version) };
    await this.send({ method: 'DELETE', path: itemPath(resource, id), headers, signal });
  }

  /** @throws RequestRefused unless the status is 2xx */
  private async send(request: HttpsRequest): Promise<HttpsResponse> {
    const response = await sendHttps(this.target, request);
    const { status, headers } = response;
    if (status >= 200 && status < 300) return response;
    const retryAfter = Number(headers['retry-after'] ?? Number.NaN);
    throw new RequestRefused(status, errorIn(response), Number.isNaN(retryAfter) ? undefined : retryAfter);
  }
}

function collectionPath(resource: string): string {
  return `/v1/${resource}`;
}

function itemPath(resource: string, id: number): string {
  return `${collectionPath(resource)}/${id}`;
}

/** The strong tag of an item is its version. */
function entityTag(version: number): string {
  return `"${version}"`;
}

function versioned(response: HttpsResponse): VersionedRecord {
  const version = Number(response.headers.etag?.slice(1, -1));
  return { ...(parse(response) as RemoteRecord), version };
}

/** RFC 8288: the cursor in the link to the next page. */
function nextCursorIn(link: string): string | undefined {
  const target = /<([^>]*)>;\s*rel="next"/.exec(link)?.[1];
  if (target === undefined) return undefined;
  return new URL(target, 'https://localhost').searchParams.get('cursor') ?? undefined;
}

/** @throws RequestRefused if the body is no JSON: then another program responded */
function parse(response: HttpsResponse): unknown {
  try {
    return JSON.parse(response.text);
  } catch {
    throw new RequestRefused(response.status, notTheService(response.status));
  }
}

function errorIn({ status, text }: HttpsResponse): ErrorBody {
  try {
    const body = JSON.parse(text);
    if (typeof body?.code === 'string' && typeof body.message === 'string') return body;
  } catch {
    // A proxy may respond in its own words.
  }
  return notTheService(status);
}

function notTheService(status: number): ErrorBody {
  const message = `The response has status ${status} and is not one of the service`;
  return { code: 'unexpected_response', message, details: [] };
}
