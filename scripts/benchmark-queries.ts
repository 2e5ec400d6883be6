import { SAMPLE_SEED, sampleProduct } from '#src/adapters/inbound/cli/seed/sample-product.js';
import type { HttpClient } from '../tests/support/http-client.js';

/** A selective query matches about this many records, at every size of the store. */
const MATCHES = 20;
/** At most this many different queries of a kind alternate. */
const VARIANTS = 50;
const DEEPEST_PAGE = 5_000;
const PAGE = 100;
const LONGEST_PAGE = 1_000;

export interface ListCase {
  readonly name: string;
  /** The requests use these paths in turn. */
  readonly paths: readonly string[];
  readonly prefer?: string;
}

/** The lists to measure on a store that holds exactly the first `count` sample products. */
export async function listCases(client: HttpClient, count: number): Promise<ListCase[]> {
  const facts = factsOf(count);
  const list = (query: string) => `/v1/products?limit=${PAGE}${query}`;
  const one = (name: string, query: string) => ({ name, paths: [list(query)] });
  const many = (name: string, queries: readonly string[]) => ({ name, paths: queries.map(list) });
  return [
    one('first page', ''),
    { name: 'deep page', paths: [await deepPage(client, count)] },
    many(
      'sku=',
      facts.skus.map((sku) => `&sku=${sku}`),
    ),
    many(
      'name:prefix',
      facts.prefixes.map((prefix) => `&name:prefix=${encodeURIComponent(prefix)}`),
    ),
    one('sort=name', '&sort=name'),
    one('sort=-createdAt', '&sort=-createdAt'),
    one('price.amount:gte, common', `&price.amount:gte=${facts.commonAmount}`),
    one('price.amount:gte, rare', `&price.amount:gte=${facts.rareAmount}`),
    one('attributes.KEY, common', '&attributes.colour=black'),
    many(
      'attributes.KEY, rare',
      facts.rareAttributes.map((query) => `&${query}`),
    ),
    { ...one('count=exact', ''), prefer: 'count=exact' },
  ];
}

/** The page in the middle, but never deeper than page 5,000. */
async function deepPage(client: HttpClient, count: number): Promise<string> {
  let before = Math.min(Math.floor(count / PAGE / 2) - 1, DEEPEST_PAGE - 1) * PAGE;
  let path = `/v1/products?limit=${PAGE}`;
  while (before > 0) {
    const limit = before >= LONGEST_PAGE ? LONGEST_PAGE : PAGE;
    const page = await client.get(path.replace(/\blimit=\d+/, `limit=${limit}`));
    const next = /<([^>]*)>; rel="next"/.exec(String(page.headers['link']))?.[1];
    if (page.status !== 200 || !next)
      throw new Error(`the deep page cannot be reached: ${page.status} ${page.text}`);
    before -= page.json.length;
    path = next;
  }
  return path.replace(/\blimit=\d+/, `limit=${PAGE}`);
}

/** Computes values that match known numbers of records. The sample products are always the same. */
function factsOf(count: number) {
  const amounts = new Float64Array(count);
  const prefixes = new Map<string, number>();
  const attributes = new Map<string, number>();
  for (let index = 1; index <= count; index++) {
    const product = sampleProduct(SAMPLE_SEED.default, index);
    amounts[index - 1] = product.price?.amount ?? 0;
    const words = product.name.split(' ').slice(0, 4);
    for (let length = 1; length < words.length; length++)
      increase(prefixes, `${words.slice(0, length).join(' ')} `);
    // The service would read the text after a colon as an operator.
    for (const [key, value] of Object.entries(product.attributes ?? {}).filter(([key]) => !key.includes(':')))
      increase(attributes, `attributes.${encodeURIComponent(key)}=${encodeURIComponent(String(value))}`);
  }
  amounts.sort();
  const step = Math.max(1, Math.floor(count / VARIANTS));
  const indexes = Array.from({ length: Math.min(VARIANTS, count) }, (_, at) => at * step + 1);
  return {
    skus: indexes.map((index) => sampleProduct(SAMPLE_SEED.default, index).sku),
    prefixes: nearest(prefixes),
    rareAttributes: nearest(attributes),
    commonAmount: amounts[Math.floor(count / 2)] ?? 0,
    rareAmount: amounts[count - MATCHES] ?? 0,
  };
}

function increase(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The keys that match about as many records as a selective query should match. */
function nearest(counts: ReadonlyMap<string, number>): string[] {
  const distance = ([, count]: readonly [string, number]) => Math.abs(count - MATCHES);
  const close = [...counts].filter((entry) => distance(entry) <= MATCHES / 4);
  const found = (close.length > 0 ? close : [...counts]).sort((a, b) => distance(a) - distance(b));
  return found.slice(0, close.length > 0 ? VARIANTS : 1).map(([key]) => key);
}
