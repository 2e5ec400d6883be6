import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpClient, HttpResponse } from '../../support/http-client.js';
import { jsonLines } from '../../support/line-stream.js';
import type { Fields, Resource } from './ledger.js';
import { isRefusal, RECENT_RECORDS, RETRY_MS, type Send, type Session } from './session.js';

const IMPORTED_LINES = 12;

interface ImportResult {
  readonly status: number;
  readonly id?: number;
  readonly replayed?: boolean;
  readonly error?: { readonly code: string };
}

/** Creates records one at a time and by imports. */
export class Creations {
  constructor(private readonly session: Session) {}

  async create(): Promise<void> {
    const { ledger, isKeyed } = this.session.shared;
    const draft = this.draft(this.session.random.weighted({ products: 6, users: 3, orders: 2 }));
    if (!draft) return;
    const { resource, token, fields } = draft;
    ledger.creating(resource, token, fields);
    const headers = isKeyed ? { 'Idempotency-Key': randomUUID() } : {};
    const post: Send = (client, options) => client.post(`/${resource}`, fields, { headers, ...options });
    const first = await this.session.persist(post, () => ledger.uncertain(resource, token));
    this.verifyCreation(resource, token, first);
    // Some clients lost the response, and send the request again.
    if (!isKeyed || first.status !== 201 || !this.session.random.chance(0.15)) return;
    const again = await this.session.persist(post);
    this.verifyCreation(resource, token, again);
    if (again.text !== first.text || again.headers['idempotency-replayed'] !== 'true')
      ledger.seen.doubled.push(`${token} was not replayed: ${again.status} ${again.text}`);
  }

  private verifyCreation(resource: Resource, token: string, response: HttpResponse): void {
    const { ledger } = this.session.shared;
    if (response.headers['idempotency-replayed']) ledger.replays++;
    if (response.status === 201) ledger.created(resource, token, response.json.id);
    else if (isRefusal(resource, response.status)) ledger.refused(resource, token);
    else this.session.unexpected('a creation', response);
  }

  async import(): Promise<void> {
    const resource = this.session.random.weighted({ products: 3, users: 1, orders: 1 });
    const drafts = Array.from({ length: IMPORTED_LINES }, () => this.draft(resource)).filter(
      (draft) => draft !== undefined,
    );
    if (drafts.length === 0) return;
    const { ledger } = this.session.shared;
    for (const { token, fields } of drafts) ledger.creating(resource, token, fields);
    const csv = resource === 'users' && this.session.random.chance(0.5);
    const body = csv
      ? `name,email\n${drafts.map(({ fields }) => `${fields['name']},${fields['email']}`).join('\n')}\n`
      : drafts.map(({ fields }) => `${JSON.stringify(fields)}\n`).join('');
    const headers = {
      'Content-Type': csv ? 'text/csv' : 'application/x-ndjson',
      'Idempotency-Key': randomUUID(),
      Authorization: `Bearer ${this.session.token}`,
    };
    for (let isDone = false; !isDone; ) {
      let received: ImportResult[] = [];
      // The results of a cut response count as well.
      const response = await this.session.attempt(async (client) => {
        const { status, text } = await sendLines(client, `/${resource}/imports`, body, headers);
        if (status !== 200) return { status, text, headers: {}, bytes: Buffer.of(), json: undefined };
        received = jsonLines(text);
        const isWhole = received.length === drafts.length;
        return { status: isWhole ? 200 : 503, text, headers: {}, bytes: Buffer.of(), json: undefined };
      });
      if (response && response.status !== 200) return this.session.unexpected('an import', response);
      isDone = received.length === drafts.length && received.every(({ status }) => status < 500);
      for (const [at, { token }] of drafts.entries()) {
        const result = received[at];
        if (result?.status === 201 && result.id !== undefined) {
          ledger.created(resource, token, result.id);
          if (result.replayed) ledger.replays++;
        } else if (result && isRefusal(resource, result.status)) ledger.refused(resource, token);
        else if (result && result.status < 500) ledger.seen.others.push(`an imported line: ${JSON.stringify(result)}`);
        else ledger.uncertain(resource, token);
      }
      if (!isDone) await sleep(RETRY_MS);
    }
  }

  /** @returns undefined if an order has nothing to refer to */
  private draft(resource: Resource): { resource: Resource; token: string; fields: Fields } | undefined {
    const number = this.session.shared.next();
    const { random } = this.session;
    if (resource === 'orders') {
      const fields = this.orderFields(number, 1 + number);
      return fields && { resource, token: `o${number}`, fields };
    }
    const token = `${resource[0]}${number}`;
    if (resource === 'users') {
      const email = random.chance(0.1) ? this.session.contestedEmail() : `${token}@example.com`;
      return { resource, token, fields: { name: `Person ${token} 0`, email } };
    }
    const fields = {
      name: `Gizmo ${token} 0`,
      ...(random.chance(0.5) && { sku: random.chance(0.2) ? this.session.contestedSku() : `S-${token}` }),
      ...(random.chance(0.5) && { price: { amount: number, currency: 'EUR' } }),
      attributes: { token, weight: number },
    };
    return { resource, token, fields };
  }

  private orderFields(number: number, revision: number): Fields | undefined {
    const { random } = this.session;
    const { ledger } = this.session.shared;
    const users = ledger.kept('users').slice(-RECENT_RECORDS);
    const products = ledger.kept('products').slice(-RECENT_RECORDS);
    if (users.length === 0 || products.length < 2) return undefined;
    const at = random.below(products.length - 1);
    const item = (offset: number, quantity: number) => ({ productId: products[at + offset]?.id, quantity });
    return { userId: random.oneOf(users).id, items: [item(0, number), item(1, revision)] };
  }
}

/** Sends an import. @returns what arrived before the end of the connection; status 0 if there was no response */
function sendLines(
  client: HttpClient,
  path: string,
  body: string,
  headers: Record<string, string>,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve) => {
    let status = 0;
    let text = '';
    const request = client.startLines(path, headers);
    const end = () => resolve({ status: status || 503, text });
    request.once('response', (response) => {
      status = response.statusCode ?? 0;
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('close', end).once('error', end);
    });
    request.once('error', end);
    request.end(body);
  });
}
