import { writeFileSync } from 'node:fs';
import { API_KEY, fileOf, type Materials, type Subject } from './subjects.js';
import type { Requests } from './wrk.js';

/** One kind of request, sent as fast as the responses come. */
export interface Work {
  readonly name: string;
  /** Whether another client writes meanwhile, so that a server cannot respond with what it kept. */
  readonly isBesideWrites?: boolean;
  /** @returns undefined if the server cannot do this */
  requests(subject: Subject, materials: Materials): Promise<Requests | undefined>;
}

export const PAGE = 20;
const MOST_PATHS = 20_000;
const KEY = { Authorization: `Bearer ${API_KEY}` };
/** As long as a token of the service, for servers that do not look at it. */
const UNREAD_TOKEN = 'x'.repeat(640);
const PRODUCT =
  '{"name":"Folding garden chair","sku":"BENCH-{n}","price":{"amount":4999,"currency":"EUR"},' +
  '"attributes":{"colour":"green","weightKg":4.2,"foldable":true}}';

export const WORKS: readonly Work[] = [
  {
    name: 'GET item',
    requests: async (subject, materials) => reads(itemPaths(subject, materials, 1, subject.count)),
  },
  {
    name: 'GET item with a JWT',
    requests: async (subject, materials) => ({
      ...reads(itemPaths(subject, materials, 1, subject.count)),
      headers: { Authorization: `Bearer ${subject.isService ? await accessToken(subject) : UNREAD_TOKEN}` },
    }),
  },
  {
    name: 'list',
    isBesideWrites: true,
    requests: async (subject, materials) => ({
      ...reads(written(subject, materials, 'pages', await pagePaths(subject, PAGE))),
      order: 'turns',
    }),
  },
  {
    name: '304',
    requests: async (subject, materials) =>
      subject.api.hasEntityTags
        ? {
            ...reads(itemPaths(subject, materials, 1, Math.floor(subject.count / 2))),
            status: 304,
            headers: { ...KEY, 'If-None-Match': '"1"' },
          }
        : undefined,
  },
  { name: 'PATCH', requests: async (...all) => patches(...all) },
  {
    name: 'POST',
    requests: async (subject, materials) => ({
      ...{ method: 'POST', status: subject.api.createdStatus, order: 'turns', body: PRODUCT },
      headers: { ...KEY, 'Content-Type': 'application/json' },
      paths: written(subject, materials, 'collection', [subject.api.collection]),
    }),
  },
];

export function reads(paths: string): Requests {
  return { method: 'GET', status: 200, order: 'random', headers: KEY, paths };
}

/** Changes of prices in the second half of the products: the first half keeps its entity tags. */
export function patches(subject: Subject, materials: Materials): Requests {
  return {
    ...{ method: 'PATCH', status: 200, order: 'random', body: '{"price":{"amount":{n},"currency":"EUR"}}' },
    headers: { ...KEY, 'Content-Type': subject.api.patchType },
    paths: itemPaths(subject, materials, Math.floor(subject.count / 2) + 1, subject.count),
  };
}

/** The paths of items from one id to another; evenly spread ones if there are too many. */
export function itemPaths(subject: Subject, materials: Materials, from: number, to: number): string {
  const step = Math.ceil((to - from + 1) / MOST_PATHS);
  const paths = [];
  for (let id = from; id <= to; id += step) paths.push(subject.api.item(id));
  return written(subject, materials, `items-${from}`, paths);
}

/**
 * The paths of pages of 20 records. Only the server knows its cursors, so this walks through all records.
 * @param step the number of records from one page to the next, at most 1,000
 */
export async function pagePaths({ name, api, client }: Subject, step: number): Promise<string[]> {
  const paths: string[] = [];
  for (let path: string | undefined = api.firstPage(step); path; ) {
    paths.push(path.replace(/\b(limit|perPage)=\d+/, `$1=${PAGE}`));
    const response = await client.get(path);
    if (response.status !== 200) throw new Error(`${name} responds to ${path} with ${response.text}`);
    path = api.nextPage(response, step);
  }
  return paths;
}

export function written(subject: Subject, materials: Materials, kind: string, paths: readonly string[]): string {
  const file = fileOf(subject, materials, kind);
  writeFileSync(file, paths.map((path) => `${path}\n`).join(''));
  return file;
}

/** Gets a token of the built-in issuer, as a reader has it: one that may change keys is verified at each request. */
async function accessToken({ name, client }: Subject): Promise<string> {
  const { status, text, json } = await client.post(
    '/oauth/token',
    `grant_type=client_credentials&client_id=1&client_secret=${API_KEY}&scope=products:read`,
    { token: null, headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
  );
  if (status !== 200) throw new Error(`${name} gives no token: ${text}`);
  return json.access_token;
}
