import { type HttpClient, type HttpResponse, type RequestOptions, versionIn } from '../../support/http-client.js';
import type { Apply, Fields, History } from './ledger.js';
import type { Reads } from './reads.js';
import { HOT_RECORDS, isRefusal, type Session } from './session.js';

/** Changes and deletes records. */
export class Edits {
  constructor(
    private readonly session: Session,
    private readonly reads: Reads,
  ) {}

  async merge(): Promise<void> {
    const history = this.session.anyRecord();
    if (!history) return;
    const revision = this.session.shared.next();
    const patch = this.mergePatch(history, revision);
    const apply: Apply = (before) => merged(before, patch) as Fields;
    const type = this.session.random.oneOf(['application/merge-patch+json', 'application/json']);
    await this.edit(history, apply, (client, path, { headers, ...options }) =>
      client.patch(path, patch, { ...options, headers: { ...headers, 'Content-Type': type } }),
    );
  }

  private mergePatch({ resource, token, created }: History, revision: number): Fields {
    const { random } = this.session;
    if (resource === 'users') {
      const name = `Person ${token} ${revision}`;
      return random.chance(0.2) ? { name, email: this.session.contestedEmail() } : { name };
    }
    if (resource === 'orders') return { items: requantified(created, revision)['items'] };
    const attributes = { [`merge${this.session.index}`]: revision };
    const sku = random.chance(0.5) ? this.session.contestedSku() : null;
    return { attributes, ...(random.chance(0.2) && { sku }) };
  }

  async jsonPatch(): Promise<void> {
    const history = this.session.anyRecord();
    if (!history) return;
    const revision = this.session.shared.next();
    const [op, path, value] = {
      products: ['add', `/attributes/patch${this.session.index}`, revision],
      users: ['replace', '/name', `Person ${history.token} ${revision}`],
      orders: ['replace', QUANTITY, quantityOf(revision)],
    }[history.resource] as [op: string, path: string, value: unknown];
    const apply: Apply = (before) => withValue(before, path, value);
    await this.edit(history, apply, (client, url, { headers, ...options }) =>
      client.patch(url, [{ op, path, value }], {
        ...options,
        headers: { ...headers, 'Content-Type': 'application/json-patch+json' },
      }),
    );
  }

  /** Replaces a record without regard to other writers. */
  async put(): Promise<void> {
    const history = this.session.anyRecord();
    if (!history) return;
    const body = this.replacement(history.created, history);
    await this.edit(
      history,
      () => body,
      (client, path, options) => client.put(path, body, options),
    );
  }

  /** Reads a record, changes it and replaces it with If-Match. */
  async putMatching(): Promise<void> {
    const history = this.session.anyRecord();
    if (!history) return;
    const read = await this.reads.get(history);
    if (!read) return;
    const { id, ...fields } = read.json;
    const body = this.replacement(fields, history);
    const etag = String(read.headers.etag);
    await this.edit(
      history,
      () => body,
      (client, path, { headers, ...options }) =>
        client.put(path, { id, ...body }, { ...options, headers: { ...headers, 'If-Match': etag } }),
      versionIn(etag),
    );
  }

  private replacement(fields: Fields, { resource, token }: History): Fields {
    const revision = this.session.shared.next();
    if (resource === 'orders') return requantified(fields, revision);
    const { email, ...rest } = fields;
    const kind = resource === 'users' ? 'Person' : 'Gizmo';
    return {
      ...rest,
      ...(email !== undefined && {
        email: this.session.random.chance(0.2) ? this.session.contestedEmail() : email,
      }),
      name: `${kind} ${token} ${revision}`,
    };
  }

  /** @param matched the version in If-Match */
  private async edit(
    history: History,
    apply: Apply,
    send: (client: HttpClient, path: string, options: RequestOptions) => Promise<HttpResponse>,
    matched?: number,
  ): Promise<void> {
    const { ledger } = this.session.shared;
    let isRetry = false;
    const headers = this.session.random.chance(0.2) ? { Prefer: 'return=minimal' } : {};
    const path = `/${history.resource}/${history.id}`;
    const response = await this.session.persist(
      (client, options) => send(client, path, { ...options, headers }),
      () => {
        isRetry = true;
        history.possible.push(apply);
      },
    );
    const { status } = response;
    if (status === 404) ledger.missing(history);
    else if (status === 200 || status === 204) {
      ledger.acknowledged++;
      const { id: _, ...shown } = status === 200 ? response.json : {};
      const fields = status === 200 ? shown : undefined;
      history.acknowledge(versionIn(response.headers.etag), { isRetry, apply, fields }, matched);
    } else if (status !== 412 && !isRefusal(history.resource, status)) this.session.unexpected('an edit', response);
  }

  async remove(): Promise<void> {
    const { ledger } = this.session.shared;
    const resource = this.session.random.weighted({ products: 6, users: 3, orders: 2 });
    // The hot records stay.
    const kept = ledger.kept(resource).slice(HOT_RECORDS);
    if (kept.length < HOT_RECORDS) return;
    const history = this.session.random.oneOf(kept);
    let own = 0;
    const response = await this.session.persist((client, options) => {
      history.deletionsSent++;
      own++;
      return client.delete(`/${resource}/${history.id}`, options);
    });
    if (response.status === 404) return ledger.missing(history, own === 1 ? 1 : 0);
    if (response.status !== 204) return this.session.unexpected('a deletion', response);
    history.isDeleted = true;
    ledger.acknowledged++;
  }
}

/** The second item of an order: the quantity of the first is its token. */
const QUANTITY = '/items/1/quantity';
const quantityOf = (revision: number) => 1 + (revision % 1_000_000);
const requantified = (order: Fields, revision: number) => withValue(order, QUANTITY, quantityOf(revision));

/** Sets the value at a path of a JSON Patch. */
function withValue(fields: Fields, path: string, value: unknown): Fields {
  const copy: Fields = structuredClone(fields);
  const names = path.split('/').slice(1);
  const last = names.pop() ?? '';
  const parent = names.reduce<unknown>((part, name) => (part as Fields)[name], copy);
  (parent as Record<string, unknown>)[last] = value;
  return copy;
}

/** RFC 7396 section 2 */
function merged(before: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> =
    typeof before === 'object' && before !== null ? { ...(before as Fields) } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}
