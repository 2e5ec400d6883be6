import { type HttpResponse, versionIn } from '../../support/http-client.js';
import { linksOf } from '../../support/links.js';
import { type History, RESOURCES } from './ledger.js';
import type { Session } from './session.js';

/** Reads records and lists, and compares them with what was acknowledged before. */
export class Reads {
  constructor(private readonly session: Session) {}

  async read(): Promise<void> {
    const history = this.session.anyRecord();
    if (history) await this.get(history);
  }

  /** Reads a record and compares it with what was acknowledged before. @returns undefined if it is deleted */
  async get(history: History): Promise<HttpResponse | undefined> {
    const { highest } = history;
    const { seen } = this.session.shared.ledger;
    const response = await this.session.persist((client, options) =>
      client.get(`/${history.resource}/${history.id}`, options),
    );
    if (response.status === 404) {
      this.session.shared.ledger.missing(history);
      return undefined;
    }
    if (response.status !== 200) {
      this.session.unexpected('a read', response);
      return undefined;
    }
    const version = versionIn(response.headers.etag);
    if (version < highest) seen.lost.push(`${history.name}: version ${version} was read after ${highest}`);
    return response;
  }

  /** Finds a record by its token, which is a word of its name, as soon as it is acknowledged. */
  async search(): Promise<void> {
    const { ledger } = this.session.shared;
    const resource = this.session.random.oneOf(['products', 'users'] as const);
    const kept = ledger.kept(resource);
    if (kept.length === 0) return;
    const history = this.session.random.oneOf(kept);
    const query =
      resource === 'products' && this.session.random.chance(0.3)
        ? `attributes.token=${history.token}`
        : `q=${history.token}`;
    const response = await this.session.persist((client, options) => client.get(`/${resource}?${query}`, options));
    if (response.status !== 200) return this.session.unexpected('a search', response);
    const ids: number[] = response.json.map(({ id }: { id: number }) => id);
    // A search finds every word that begins with the token.
    if (!ids.includes(history.id) && ids.length < 100 && history.deletionsSent === 0)
      ledger.seen.lost.push(`${history.name} was not found by ${query}`);
  }

  /** Reads some pages of a list. */
  async list(): Promise<void> {
    const { seen } = this.session.shared.ledger;
    const resource = this.session.random.oneOf(RESOURCES);
    const sort = `${this.session.random.chance(0.5) ? '-' : ''}${this.session.random.oneOf(['id', 'createdAt'])}`;
    const ids = new Set<number>();
    let path = `/${resource}?limit=200&sort=${sort}`;
    for (let page = 0; path && page < 3; page++) {
      const response = await this.session.persist((client, options) => client.get(path, options));
      if (response.status !== 200) return this.session.unexpected('a list', response);
      for (const { id } of response.json) {
        if (ids.has(id)) seen.others.push(`${resource}/${id} is twice in a list by ${sort}`);
        ids.add(id);
      }
      path = linksOf(response.headers['link'])['next'] ?? '';
    }
  }

  /** Expects every record in an export that was acknowledged before it began. */
  async export(): Promise<void> {
    const { ledger } = this.session.shared;
    const resource = this.session.random.oneOf(RESOURCES);
    const kept = ledger.kept(resource);
    const isCsv = this.session.random.chance(0.5);
    const headers = { Accept: isCsv ? 'text/csv' : 'application/x-ndjson' };
    const response = await this.session.attempt((client, options) =>
      client.get(`/${resource}?fields=id`, { ...options, headers }),
    );
    if (!response) return;
    if (response.status !== 200) return this.session.unexpected('an export', response);
    const lines = response.text.split(/\r?\n/).filter(Boolean);
    const ids = isCsv ? lines.slice(1).map(Number) : lines.map((line): number => JSON.parse(line).id);
    const found = new Set(ids);
    if (found.size !== ids.length) ledger.seen.others.push(`an export of ${resource} has an id twice`);
    for (const { id, name, deletionsSent } of kept)
      if (!found.has(id) && deletionsSent === 0) ledger.seen.lost.push(`${name} was not exported`);
  }
}
