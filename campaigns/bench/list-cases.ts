import { SAMPLE_SEED, sampleProduct } from '#src/adapters/inbound/cli/samples.js';
import { PAGE } from './works.js';

/** A selective query matches about this many records, at every size of the store. */
const MATCHES = 20;
/** At most this many different queries of a kind alternate. */
const VARIANTS = 500;

/** One in seven of the sample products has this tag. */
const TAG = 'new';
/** One in four of the sample products has this word. */
const COMMON_WORD = 'and';
/** One in twenty of the sample products has each of these words, and none has both. */
const APART = ['alder', 'verano'];

export interface ListCase {
  readonly name: string;
  /** The requests use these paths in turn. */
  readonly paths: readonly string[];
  readonly prefer?: string;
}

/** The lists to measure on a store that holds exactly the first `count` sample products. */
export function listCases(count: number): ListCase[] {
  const facts = factsOf(count);
  const list = (query: string) => `/v1/products?limit=${PAGE}&${query}`;
  const lists = (name: string, queries: readonly string[]) => ({ name, paths: queries.map(list) });
  const prefixes = facts.prefixes.map((prefix) => `name.prefix=${encodeURIComponent(prefix)}`);
  return [
    lists(
      'sku=',
      facts.skus.map((sku) => `sku=${sku}`),
    ),
    lists('name.prefix', prefixes),
    lists('sort=name', ['sort=name']),
    lists('sort=-createdAt', ['sort=-createdAt']),
    lists('price.amount.gte, common', [`price.amount.gte=${facts.commonAmount}`]),
    lists('price.amount.gte, rare', [`price.amount.gte=${facts.rareAmount}`]),
    lists('attributes.KEY, common', ['attributes.colour=black']),
    lists(
      'q, rare word',
      facts.skus.map((sku) => `q=${sku.split('-').at(-1)}`),
    ),
    lists('q, common word', [`q=${COMMON_WORD}`]),
    lists('q, common words that never meet', [`q=${APART.join('+')}`]),
    lists('q, one letter', [`q=${COMMON_WORD.slice(0, 1)}`]),
    lists('q, common word, sort=name', [`q=${COMMON_WORD}&sort=name`]),
    lists('tags=', [`tags=${TAG}`]),
    lists('tags.all', [`tags.all=${TAG},sale`]),
    lists('tags.prefix', ['tags.prefix=Food/']),
    lists('tags=, sort=name', [`tags=${TAG}&sort=name`]),
    { ...lists('count=exact', ['sort=id']), prefer: 'count=exact' },
    { ...lists('tags=, count=exact', [`tags=${TAG}`]), prefer: 'count=exact' },
  ];
}

/** Computes values that match known numbers of records. The sample products are always the same. */
function factsOf(count: number) {
  const amounts = new Float64Array(count);
  const prefixes = new Map<string, number>();
  for (let index = 1; index <= count; index++) {
    const product = sampleProduct(SAMPLE_SEED.default, index);
    amounts[index - 1] = product.price?.amount ?? 0;
    const words = product.name.split(' ').slice(0, 4);
    for (let length = 1; length < words.length; length++) increase(prefixes, `${words.slice(0, length).join(' ')} `);
  }
  amounts.sort();
  const step = Math.max(1, Math.floor(count / VARIANTS));
  const indexes = Array.from({ length: Math.min(VARIANTS, count) }, (_, at) => at * step + 1);
  return {
    skus: indexes.map((index) => sampleProduct(SAMPLE_SEED.default, index).sku),
    prefixes: nearest(prefixes),
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
