import { isDeepStrictEqual } from 'node:util';
import type { RecordEntry } from '#src/application/ports/archive.js';
import type { Storage } from '#src/composition/storage.js';
import { RECORD_TABLES } from '#src/composition/tables.js';
import { sortableFields } from '#src/domain/fields.js';
import type { HttpClient } from '../../support/http-client.js';
import { recordsOf } from '../../support/links.js';
import { type Fields, type Found, type Ledger, RESOURCES, type Resource, type Verdict } from './ledger.js';

/** The records and the tombstones of a store. */
export interface State {
  readonly live: Readonly<Record<Resource, readonly Found[]>>;
  readonly dead: Readonly<Record<Resource, ReadonlySet<number>>>;
}

const PAGE = 1_000;
const NDJSON = { headers: { Accept: 'application/x-ndjson' } };
/** After this many failed authentications an address has to wait a minute. */
const REFUSALS_PER_ADDRESS = 15;

/** Reads a whole store without the service. */
export async function stateIn(storage: Storage): Promise<State> {
  const live: Record<Resource, Found[]> = { products: [], users: [], orders: [] };
  const dead: Record<Resource, Set<number>> = { products: new Set(), users: new Set(), orders: new Set() };
  await storage.store.open();
  try {
    for (const resource of RESOURCES) {
      const archive = storage.archives.records.find(({ name }) => name === resource);
      let page: readonly RecordEntry[] = (await archive?.read(0, PAGE)) ?? [];
      while (page.length > 0) {
        for (const entry of page)
          if ('deletedAt' in entry) dead[resource].add(entry.id);
          else live[resource].push({ ...entry, fields: entry.fields as Fields });
        page = (await archive?.read(page.at(-1)?.id ?? 0, PAGE)) ?? [];
      }
    }
  } finally {
    await storage.store.close();
  }
  return { live, dead };
}

/** Compares every way to read a store over HTTP with its records. */
export async function compareReads(client: HttpClient, { live }: State, verdict: Verdict): Promise<void> {
  for (const resource of RESOURCES) {
    const { entity, fields: indexed } = RECORD_TABLES[resource];
    const fields = ['id', 'version', 'createdAt', 'updatedAt', ...Object.keys(entity)];
    const lines = await client.get(`/${resource}?fields=${fields}`, NDJSON);
    const exported = lines.text.split('\n').filter(Boolean);
    const shown = exported.map((line) => {
      const { id, version, createdAt, updatedAt, ...rest } = JSON.parse(line);
      if (!(createdAt <= updatedAt)) verdict.versions.push(`${resource}/${id} was updated before its creation`);
      return { id, version, fields: rest };
    });
    const stored = live[resource].map(({ id, version, fields }) => ({ id, version, fields }));
    if (!isDeepStrictEqual(shown, stored)) verdict.others.push(`the export of ${resource} differs from the store`);

    const ids = stored.map(({ id }) => id);
    for (const sort of sortableFields(indexed))
      for (const direction of ['', '-']) {
        const order = `${direction}${sort}`;
        const found = await listed(client, `/${resource}?limit=${PAGE}&sort=${order}`);
        expectIds(found, ids, `${resource} by ${order}`, verdict);
        if (sort === 'id' && !isDeepStrictEqual(found, direction ? ids.toReversed() : ids))
          verdict.others.push(`${resource} by ${order} are not in that order`);
      }
    if (resource === 'orders') continue;
    // No sample product has this word.
    const word = resource === 'users' ? 'Person' : 'Gizmo';
    const named = stored.filter(({ fields }) => `${fields['name']}`.startsWith(word)).map(({ id }) => id);
    expectIds(await listed(client, `/${resource}?limit=${PAGE}&q=${word}`), named, `${resource} by q`, verdict);
  }
}

/** Compares the API keys with those that were acknowledged. */
export async function compareKeys(client: HttpClient, { keys }: Ledger, verdict: Verdict): Promise<void> {
  const listedKeys = await client.get('/api-keys?limit=1000');
  const names = new Map<string, number>();
  for (const { id, name } of listedKeys.json) {
    const key = keys.get(name);
    if (names.has(name)) verdict.doubled.push(`${name} has the ids ${names.get(name)} and ${id}`);
    names.set(name, id);
    if (key?.isRevoked) verdict.lost.push(`${name} was revoked, but is listed`);
    if (key?.id !== undefined && key.id !== id) verdict.doubled.push(`${name} is ${key.id} and ${id}`);
  }
  let at = 0;
  for (const [name, { id, secret, isRevoked, isRevocationSent }] of keys) {
    if (id !== undefined && !isRevocationSent && !names.has(name)) verdict.lost.push(`${name} is gone`);
    if (!secret || isRevoked !== isRevocationSent) continue;
    // Refused tokens count against their address.
    const from = `127.0.1.${1 + Math.floor(at++ / REFUSALS_PER_ADDRESS)}`;
    const { status } = await client.get('/products?limit=1', { token: secret, from });
    if (status !== (isRevoked ? 401 : 200)) verdict.lost.push(`${name} (revoked: ${isRevoked}) gets ${status}`);
  }
}

/** Expects the same records, versions and tombstones. */
export function compareStates(what: string, copy: State, state: State, verdict: Verdict): void {
  if (!isDeepStrictEqual(copy, state)) verdict.others.push(`${what} differs from the store`);
}

async function listed(client: HttpClient, first: string): Promise<number[]> {
  const ids: number[] = [];
  for await (const { id } of recordsOf(client, `${first}&fields=id`)) ids.push(id);
  return ids;
}

function expectIds(found: number[], expected: number[], what: string, verdict: Verdict): void {
  const ascending = found.toSorted((a, b) => a - b);
  if (!isDeepStrictEqual(ascending, expected))
    verdict.others.push(`${what}: ${found.length} ids, of ${expected.length} in the store`);
}
