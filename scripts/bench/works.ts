import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_KEY, type Materials, type Subject } from './subjects.js';
import type { Requests } from './wrk.js';

export interface Work {
  readonly name: string;
  /** Whether another client writes meanwhile, so that no server can answer from what it kept. */
  readonly besideWrites?: boolean;
  requests(subject: Subject, materials: Materials, count: number): Promise<Requests>;
}

const KEY = { Authorization: `Bearer ${API_KEY}` };
const PAGE = 20;

export const WORKS: readonly Work[] = [
  {
    name: 'GET item',
    requests: async (subject, materials, count) => ({
      ...{ method: 'GET', status: 200, order: 'random', headers: KEY },
      paths: itemPaths(subject, materials, 'items', 1, count),
    }),
  },
  {
    name: 'list',
    besideWrites: true,
    requests: async (subject, materials) => ({
      ...{ method: 'GET', status: 200, order: 'turns', headers: KEY },
      paths: await pagePaths(subject, materials),
    }),
  },
  {
    name: '304',
    requests: async (subject, materials, count) => ({
      ...{ method: 'GET', status: 304, order: 'random', headers: { ...KEY, 'If-None-Match': '"1"' } },
      paths: itemPaths(subject, materials, 'unchanged', 1, Math.floor(count / 2)),
    }),
  },
  { name: 'PATCH', requests: async (...all) => patches(...all) },
  {
    name: 'POST',
    requests: async (subject, materials) => ({
      ...{ method: 'POST', status: 201, order: 'turns' },
      headers: { ...KEY, 'Content-Type': 'application/json' },
      body: '{"name":"Folding garden chair","sku":"BENCH-{n}","price":{"amount":4999,"currency":"EUR"},"attributes":{"colour":"green","weightKg":4.2,"foldable":true}}',
      paths: written(subject, materials, 'collection', ['/v1/products']),
    }),
  },
];

/** Changes of prices in the second half of the products: the first half keeps its entity tags. */
export function patches(subject: Subject, materials: Materials, count: number): Requests {
  return {
    ...{ method: 'PATCH', status: 200, order: 'random' },
    headers: { ...KEY, 'Content-Type': 'application/merge-patch+json' },
    body: '{"price":{"amount":{n},"currency":"EUR"}}',
    paths: itemPaths(subject, materials, 'changed', Math.floor(count / 2) + 1, count),
  };
}

function itemPaths(subject: Subject, materials: Materials, name: string, from: number, to: number): string {
  const ids = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  return written(
    subject,
    materials,
    name,
    ids.map((id) => `/v1/products/${id}`),
  );
}

/** Walks through all pages, because only the server knows its cursors. */
async function pagePaths(subject: Subject, materials: Materials): Promise<string> {
  const paths: string[] = [];
  for (let path: string | undefined = `/v1/products?limit=${PAGE}`; path; ) {
    paths.push(path);
    const { status, text, headers } = await subject.client.get(path);
    if (status !== 200) throw new Error(`${subject.name} responds to ${path} with ${status} ${text}`);
    path = /<([^>]*)>; rel="next"/.exec(String(headers['link']))?.[1];
  }
  return written(subject, materials, 'pages', paths);
}

function written({ name }: Subject, { folder }: Materials, kind: string, paths: readonly string[]): string {
  const file = join(folder, `${name.replaceAll(/\W+/g, '-')}-${kind}`);
  writeFileSync(file, paths.map((path) => `${path}\n`).join(''));
  return file;
}
