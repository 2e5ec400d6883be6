import { setTimeout as sleep } from 'node:timers/promises';
import { Latencies } from '../../scripts/statistics.js';
import type { HttpClient, HttpResponse, RequestOptions } from '../../tests/support/http-client.js';
import { linksOf } from '../../tests/support/links.js';
import { SeededRandom } from '../../tests/support/seeded-random.js';
import { Records } from './records.js';

/** Between two attempts of a request that got no response, or a 503 during a fault. */
const PAUSE_MS = 250;
const MAX_ATTEMPTS = 60;
const NDJSON = { 'Content-Type': 'application/x-ndjson' };
const CSV = { 'Content-Type': 'text/csv' };
const LINES = 20;
const TOKEN_MS = 120_000;
/** The user of every order. */
const FIRST_USER = 1;

/** What a running fault explains. Outside of it, a broken connection or a 503 is an error. */
interface Tolerance {
  broken: boolean;
  unavailable: boolean;
}

export interface Caller {
  readonly id: number;
  readonly key: string;
  readonly usesTokens: boolean;
  token: string;
  until: number;
}

type Work = (caller: Caller) => Promise<void>;

/** How often each kind of request is sent, in percent. */
const WEIGHTS = {
  readProduct: 26,
  readUser: 4,
  readOrder: 3,
  list: 14,
  search: 7,
  export: 2,
  createOrDeleteProduct: 14,
  createOrDeleteUser: 4,
  createOrDeleteOrder: 4,
  patchProduct: 8,
  patchUser: 3,
  putProduct: 4,
  importProducts: 0.5,
  deleteProduct: 6.5,
} as const;

/** Sends mixed requests at a constant rate, whether the responses come or not, and remembers what was acknowledged. */
export class Load {
  /** Times since the due time of each request, with all its attempts. Replaced each minute. */
  latencies = new Latencies();
  readonly tolerance: Tolerance = { broken: false, unavailable: false };
  /** Texts of unexpected outcomes. */
  readonly errors: string[] = [];
  /** Attempts that were repeated because of a fault. */
  repeated = 0;
  acknowledged = 0;
  private readonly products = new Records('/v1/products', 2_000);
  private readonly users = new Records('/v1/users', 500);
  private readonly orders = new Records('/v1/orders', 500);
  private readonly pending = new Set<Promise<void>>();
  private readonly random = new SeededRandom(Date.now());
  private readonly works: Readonly<Record<keyof typeof WEIGHTS, Work>> = {
    readProduct: (caller) => this.read(caller, this.products),
    readUser: (caller) => this.read(caller, this.users),
    readOrder: (caller) => this.read(caller, this.orders),
    list: (caller) => this.list(caller),
    search: (caller) => this.search(caller),
    export: (caller) => this.export(caller),
    createOrDeleteProduct: (caller) => this.createOrDelete(caller, this.products),
    createOrDeleteUser: (caller) => this.createOrDelete(caller, this.users),
    createOrDeleteOrder: (caller) => this.createOrDelete(caller, this.orders),
    patchProduct: (caller) => this.patch(caller, this.products),
    patchUser: (caller) => this.patch(caller, this.users),
    putProduct: (caller) => this.put(caller),
    importProducts: (caller) => this.import(caller),
    deleteProduct: (caller) => this.delete(caller, this.products),
  };
  private serial = 0;
  private sent = 0;
  private begin = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly clients: readonly HttpClient[],
    private readonly callers: readonly Caller[],
    private readonly rate: number,
  ) {}

  start(): void {
    this.begin = performance.now();
    this.timer = setInterval(() => this.sendDue(), 4);
  }

  /** Stops sending, and waits until every request has its outcome. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.pending);
  }

  /** Compares the store with what was acknowledged. @returns one line for each difference */
  async differences(): Promise<string[]> {
    const found: string[] = [];
    for (const records of [this.products, this.users, this.orders])
      found.push(...records.differences(await this.stored(records)));
    return found;
  }

  /** Reads all records of a collection but the sample products and the first user, which nobody writes to. */
  private async stored({ path }: Records): Promise<Map<number, string>> {
    const filter = path === '/v1/products' ? '?name.prefix=soak' : '';
    const { status, text } = await this.clientAt(0).get(`${path}${filter}`, {
      headers: { Accept: 'application/x-ndjson' },
    });
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${text.slice(0, 200)}`);
    const lines = text.split('\n').filter(Boolean);
    const records = new Map(lines.map((line): [number, string] => [JSON.parse(line).id, line]));
    if (path === '/v1/users') records.delete(FIRST_USER);
    return records;
  }

  private clientAt(at: number): HttpClient {
    const client = this.clients[at % this.clients.length];
    if (!client) throw new Error('there is no client');
    return client;
  }

  private sendDue(): void {
    const due = ((performance.now() - this.begin) / 1_000) * this.rate;
    for (; this.sent < due; this.sent++) this.run(this.begin + (this.sent / this.rate) * 1_000);
  }

  private run(dueAt: number): void {
    const caller = this.callers[this.sent % this.callers.length];
    if (!caller) throw new Error('there is no caller');
    const { latencies } = this;
    const work = this.works[this.random.weighted(WEIGHTS)];
    const outcome = work(caller)
      .then(() => latencies.add(performance.now() - dueAt))
      .catch((error) => void this.errors.push(error instanceof Error ? error.message : String(error)))
      .finally(() => this.pending.delete(outcome));
    this.pending.add(outcome);
  }

  /**
   * Sends a request until it gets one of the expected statuses. It repeats a request without a response on the other
   * service, as a proxy does, and a 503 after a pause, but only while a fault explains them.
   */
  private async send(
    caller: Caller,
    method: string,
    path: string,
    expected: readonly number[],
    options: RequestOptions = {},
  ): Promise<HttpResponse & { readonly attempts: number }> {
    const first = this.random.below(this.clients.length);
    for (let attempts = 1; ; attempts++) {
      const client = this.clientAt(first + attempts);
      let reason: string;
      let isTolerated: boolean;
      try {
        const token = await this.tokenOf(caller, client);
        const response = await client.request(method, path, { token, ...options });
        // The getter of `json` belongs to the response.
        if (expected.includes(response.status)) return Object.assign(response, { attempts });
        reason = `${response.status} ${response.text.slice(0, 200)}`;
        isTolerated =
          response.status === 503 && response.headers['retry-after'] !== undefined && this.tolerance.unavailable;
      } catch (error) {
        reason = error instanceof Error ? error.message : String(error);
        isTolerated = this.tolerance.broken;
      }
      if (!isTolerated || attempts === MAX_ATTEMPTS) throw new Error(`${method} ${path}: ${reason}`);
      this.repeated++;
      await sleep(PAUSE_MS);
    }
  }

  /** Returns the key of the caller, or an access token that it got for the key. */
  private async tokenOf(caller: Caller, client: HttpClient): Promise<string> {
    if (!caller.usesTokens) return caller.key;
    if (performance.now() < caller.until) return caller.token;
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: `${caller.id}`,
      client_secret: caller.key,
    });
    const { status, json, text } = await client.post('/oauth/token', form.toString(), {
      token: null,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    if (status !== 200) throw new Error(`POST /oauth/token: ${status} ${text.slice(0, 200)}`);
    caller.token = json.access_token;
    caller.until = performance.now() + TOKEN_MS;
    return caller.token;
  }

  private async read(caller: Caller, records: Records): Promise<void> {
    const id = records.any();
    const known = id === undefined ? undefined : records.known.get(id);
    if (!known) return this.list(caller);
    const { takes } = known;
    const { status, text, headers } = await this.send(caller, 'GET', `${records.path}/${id}`, [200, 404]);
    if (known.takes !== takes) return;
    if (status === 404) throw new Error(`${records.path}/${id} is acknowledged, but GET is 404`);
    if (known.text !== undefined && text !== known.text)
      throw new Error(`${records.path}/${id} is ${text}, acknowledged was ${known.text}`);
    if (this.random.chance(0.2))
      await this.send(caller, 'GET', `${records.path}/${id}`, [200, 304, 404], {
        headers: { 'If-None-Match': String(headers.etag) },
      });
  }

  private async list(caller: Caller): Promise<void> {
    const path = this.random.oneOf(LISTS);
    const headers = this.random.chance(0.2) ? { Prefer: 'count=exact' } : {};
    const page = await this.send(caller, 'GET', path, [200], { headers });
    const { next } = linksOf(page.headers['link']);
    if (next !== undefined && this.random.chance(0.3)) await this.send(caller, 'GET', next, [200]);
  }

  private async search(caller: Caller): Promise<void> {
    const path = this.random.oneOf(SEARCHES);
    await this.send(caller, 'GET', path, [200]);
  }

  private async export(caller: Caller): Promise<void> {
    const [Accept = ''] = Object.values(this.random.chance(0.5) ? NDJSON : CSV);
    const path = this.random.chance(0.5) ? '/v1/products?limit=500&sort=-id' : '/v1/orders';
    await this.send(caller, 'GET', path, [200], { headers: { Accept, 'Accept-Encoding': 'gzip' } });
  }

  private createOrDelete(caller: Caller, records: Records): Promise<void> {
    return records.isFull ? this.delete(caller, records) : this.create(caller, records);
  }

  private async create(caller: Caller, records: Records): Promise<void> {
    const number = ++this.serial;
    const body = this.draft(records, number);
    const headers = { 'Idempotency-Key': `soak-${number}` };
    const { json, text } = await this.send(caller, 'POST', records.path, [201], { body, headers });
    records.add(json.id, text);
    this.acknowledged++;
  }

  private draft({ path }: Records, number: number): object {
    if (path === '/v1/users') return { name: `soak ${number}`, email: `soak-${number}@example.com` };
    // Nobody deletes the first sample products and the first user.
    if (path === '/v1/orders')
      return { userId: FIRST_USER, items: [{ productId: 1 + (number % 50), quantity: number }] };
    const price = { amount: number, currency: 'EUR' };
    return {
      name: `soak ${number}`,
      sku: `S-${number}`,
      price,
      attributes: { colour: 'red', watts: number },
    };
  }

  private async delete(caller: Caller, records: Records): Promise<void> {
    const id = records.take();
    if (id === undefined) return this.list(caller);
    const { status, attempts } = await this.send(caller, 'DELETE', `${records.path}/${id}`, [204, 404]);
    if (status === 404 && attempts === 1) throw new Error(`${records.path}/${id} is acknowledged, but DELETE is 404`);
    records.drop(id);
    this.acknowledged++;
  }

  private async patch(caller: Caller, records: Records): Promise<void> {
    const id = records.take();
    if (id === undefined) return this.list(caller);
    const name = `soak ${++this.serial}`;
    const isList = this.random.chance(0.3);
    const body = isList ? [{ op: 'replace', path: '/name', value: name }] : { name };
    const headers = { 'Content-Type': `application/${isList ? 'json-patch' : 'merge-patch'}+json` };
    const { text } = await this.send(caller, 'PATCH', `${records.path}/${id}`, [200], { body, headers });
    records.release(id, text);
    this.acknowledged++;
  }

  private async put(caller: Caller): Promise<void> {
    const { products } = this;
    const id = products.take();
    if (id === undefined) return this.list(caller);
    const path = `${products.path}/${id}`;
    const { headers } = await this.send(caller, 'GET', path, [200]);
    const { status, text, attempts } = await this.send(caller, 'PUT', path, [200, 412], {
      body: this.draft(products, ++this.serial),
      headers: { 'If-Match': String(headers.etag) },
    });
    // The attempt before, whose response was lost, has changed the version.
    if (status === 412 && attempts === 1) throw new Error(`PUT ${path}: 412, but nobody else writes to it`);
    products.release(id, status === 200 ? text : (await this.send(caller, 'GET', path, [200])).text);
    this.acknowledged++;
  }

  private async import(caller: Caller): Promise<void> {
    const first = this.serial + 1;
    this.serial += LINES;
    const names = Array.from({ length: LINES }, (_, at) => `soak ${first + at}`);
    const isCsv = this.random.chance(0.5);
    const body = isCsv
      ? `name\r\n${names.join('\r\n')}\r\n`
      : names.map((name) => `${JSON.stringify({ name })}\n`).join('');
    const headers = { ...(isCsv ? CSV : NDJSON), 'Idempotency-Key': `soak-${first}` };
    const ids = new Set<number>();
    for (let attempts = 1; ids.size < LINES; attempts++) {
      const { text } = await this.send(caller, 'POST', '/v1/products/imports', [200], { body, headers });
      for (const line of text.split('\n').filter(Boolean)) {
        const { status, id } = JSON.parse(line);
        if (status === 201) ids.add(id);
        else if (status !== 503 || !this.tolerance.unavailable || attempts === MAX_ATTEMPTS)
          throw new Error(`a line of an import: ${line}`);
      }
      if (ids.size < LINES) await sleep(PAUSE_MS);
    }
    if (ids.size > LINES) throw new Error(`an import of ${LINES} lines created ${ids.size} products`);
    for (const id of ids) this.products.add(id, undefined);
    this.acknowledged += LINES;
  }
}

const LISTS = [
  '/v1/products?limit=50',
  '/v1/products?limit=20&sort=-id',
  '/v1/products?limit=20&sort=name',
  '/v1/products?limit=50&sort=-updatedAt&fields=id,name,version',
  '/v1/products?price.amount.gte=1000&price.amount.lt=2000&limit=50',
  '/v1/products?name.prefix=soak&limit=20',
  '/v1/users?limit=50',
  '/v1/orders?userId=1&limit=20',
];
const SEARCHES = ['/v1/products?q=soak&limit=20', '/v1/products?q=lamp&limit=20', '/v1/users?q=soak&limit=20'];
