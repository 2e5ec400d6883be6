/** The page that a shop shows: filtered, sorted, counted, with the counts beside each filter. */
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { grouped, Latencies, median, milliseconds, table } from '../../scripts/statistics.js';
import type { HttpResponse } from '../../tests/support/http-client.js';
import { WARM_UP } from './rounds.js';
import type { Bench, Report, Section } from './section.js';
import { bare, type Definition, fileOf, peer, type Subject, service } from './subjects.js';

/** The bounds of prices are in minor units. */
type Filters = readonly [tag: string, colour: string, from: number, below: number];

/** The requests go round among these, so that no server responds from one page. */
const FILTERS: readonly [Filters, ...Filters[]] = [
  ['new', 'black', 2_000, 5_000],
  ['new', 'white', 1_000, 10_000],
  ['new', 'navy', 2_000, 20_000],
  ['new', 'pink', 5_000, 10_000],
  ['sale', 'black', 1_000, 3_000],
  ['sale', 'red', 2_000, 20_000],
  ['gift', 'grey', 500, 5_000],
  ['gift', 'lilac', 2_000, 50_000],
  ['Home/Lighting', 'black', 2_000, 5_000],
  ['Kitchen/Baking', 'white', 1_000, 20_000],
  ['Home/Furniture', 'natural', 10_000, 50_000],
  ['Clothing/Shoes', 'brown', 5_000, 20_000],
];

const PAGE = 24;
const COUNTING = { headers: { Prefer: 'count=exact' } };
const FACET_FIELDS = 'tags,brand,attributes[colour],attributes[material],price.currency';

interface ShopRequest {
  readonly name: string;
  /** The order of a page, as the service names it; without it the request is for facets. */
  readonly sort?: string;
  readonly isCounted?: boolean;
}

const COUNTED: ShopRequest = { name: 'page by price, counted', sort: 'price.amount', isCounted: true };

export const SHOP_REQUESTS: readonly ShopRequest[] = [
  { name: 'page by price', sort: 'price.amount' },
  { name: 'page by name', sort: 'name' },
  { name: 'page by newest', sort: '-id' },
  COUNTED,
  { name: 'facets' },
];

/** What the responses of all servers have in common: the ids and the number of all matches, or the facets. */
interface Answer {
  readonly ids?: readonly number[];
  readonly total?: number;
  readonly facets?: unknown;
}

/** How a server is asked. */
interface Dialect {
  can(request: ShopRequest): boolean;
  path(request: ShopRequest, filters: Filters): string;
  answer(response: HttpResponse): Answer;
}

const CATALOGUE: Dialect = {
  can: () => true,
  path: ({ sort }, [tag, colour, from, below]) => {
    const filters =
      `tags=${encodeURIComponent(tag)}&attributes[colour]=${encodeURIComponent(colour)}` +
      `&price.amount.gte=${from}&price.amount.lt=${below}`;
    return sort
      ? `/v1/products?${filters}&sort=${sort}&limit=${PAGE}`
      : `/v1/products/facets?fields=${FACET_FIELDS}&${filters}`;
  },
  answer: ({ json, headers }) =>
    json[0]?.field ? { facets: json } : { ids: idsOf(json), total: Number(headers['x-total-count'] ?? -1) },
};

const POCKETBASE: Dialect = {
  can: ({ sort }) => sort !== undefined,
  path: ({ sort = '', isCounted }, [tag, colour, from, below]) => {
    const filter = `tags:each ?= '${tag}' && colour = '${colour}' && price >= ${from} && price < ${below}`;
    return (
      `/api/collections/products/records?filter=${encodeURIComponent(filter)}&perPage=${PAGE}` +
      `&sort=${sort.replace(/\.amount$/, '')},id&skipTotal=${isCounted !== true}`
    );
  },
  answer: ({ json }) => ({ ids: idsOf(json.items), total: json.totalItems }),
};

function idsOf(records: readonly { readonly id: number | string }[]): number[] {
  return records.map(({ id }) => Number(id));
}

const LIMIT = 'limit';
const PEER = 'pocketbase (no fsync)';
/** The limit and the peer fill their files at their first start. */
const FILLED_WITHIN_MS = 1_800_000;
/** A server that uses less has nothing to do. */
const IDLE_US_A_SECOND = 20_000;

/** The servers of the comparison. They keep their files from one run to the next, if their folder is kept. */
export function shopServers(pocketbase: string | undefined): Definition[] {
  return [
    filledAtStart(bare(LIMIT, 'shop-limit')),
    ...(pocketbase ? [filledAtStart(peer(PEER, pocketbase, 'shop'))] : []),
    // On a busy machine the first queries wait longer for their columns.
    seededBeforeStart(service('sqlite', resolve('dist'), { STORE: 'sqlite', QUERY_TIMEOUT_MS: '60000' })),
  ];
}

function filledAtStart(definition: Definition): Definition {
  return {
    ...definition,
    program: async (materials) => ({
      ...(await definition.program(materials)),
      readyWithinMs: FILLED_WITHIN_MS,
    }),
  };
}

function seededBeforeStart(definition: Definition): Definition {
  return {
    ...definition,
    program: async (materials) => {
      const cwd = fileOf(definition, materials, 'folder');
      const mark = join(cwd, 'seeded');
      if (!existsSync(mark)) {
        const seed = [resolve('dist/bundle/cli.js'), 'seed', '--products', `${materials.count}`];
        execFileSync(process.execPath, seed, { cwd, env: { DATA_DIR: 'data' } });
        writeFileSync(mark, '');
      }
      return definition.program(materials);
    },
  };
}

/** What a server needed for one kind of request. */
export interface ShopOutcome {
  readonly request: string;
  readonly server: string;
  /** Microseconds of processor time for each request, of each slice; none if the server cannot do this. */
  readonly processorTimes: number[];
  readonly latencies: Latencies;
  /** Why there are no figures. */
  failure?: string;
}

export function shopSection(requests: readonly ShopRequest[]): Section {
  return {
    name: 'shop',
    run: async (bench) => {
      for (const subject of bench.subjects) await idle(subject);
      const matches = table(['tag', 'colour', 'from', 'below', 'matches'], await matchRows(bench));
      const outcomes = [];
      for (const request of requests) outcomes.push(...(await measured(request, bench)));
      const { text, problems } = shopReport(outcomes);
      return { text: `${matches}\n\n${text}`, problems };
    },
  };
}

/** Lets a server finish what it does after its start. */
async function idle({ server }: Subject): Promise<void> {
  for (let before = Number.NEGATIVE_INFINITY; ; await sleep(1_000)) {
    const now = server.processorTime;
    if (now - before < IDLE_US_A_SECOND) return;
    before = now;
  }
}

async function matchRows({ subjects: [first] }: Bench): Promise<string[][]> {
  if (!first) return [];
  const rows = [];
  for (const filters of FILTERS) {
    const { total } = await answerOf(first, COUNTED, filters).catch(() => ({ total: undefined }));
    rows.push([...filters.map(String), total === undefined ? '–' : grouped(total)]);
  }
  return rows;
}

/** Gives every server its slices in turn, if it responds to every filter as the first server does. */
async function measured(request: ShopRequest, { subjects, extent }: Bench): Promise<ShopOutcome[]> {
  const loads = subjects.map((subject) => ({ subject, outcome: emptyOutcome(request.name, subject.name) }));
  const inTurn = async (act: (load: (typeof loads)[number]) => Promise<void>) => {
    for (const load of loads)
      if (load.outcome.failure === undefined && dialectOf(load.subject).can(request)) {
        // The server may be about to close the connection, which waited for the others' turns.
        load.subject.client.close();
        await act(load).catch((error: unknown) => {
          load.outcome.failure = error instanceof Error ? error.message : String(error);
        });
      }
  };
  const expected = new Map<Filters, Answer>();
  await inTurn(async ({ subject }) => {
    const warm = performance.now() + 1_000 * WARM_UP * extent.seconds;
    for (const filters of FILTERS) {
      const answer = await answerOf(subject, request, filters);
      if (!isDeepStrictEqual(answer, expected.get(filters) ?? answer))
        throw new Error(`another result for ${filters.join(', ')}: ${JSON.stringify(answer)}`);
      expected.set(filters, answer);
    }
    while (performance.now() < warm) await slice(subject, request, 0);
  });
  for (let round = 1; round <= extent.rounds; round++)
    await inTurn(async ({ subject, outcome }) => {
      const { processorTime, latencies } = await slice(subject, request, extent.seconds);
      outcome.processorTimes.push(processorTime);
      outcome.latencies.addAll(latencies);
    });
  return loads.map(({ outcome }) => outcome);
}

function emptyOutcome(request: string, server: string): ShopOutcome {
  return { request, server, processorTimes: [], latencies: new Latencies() };
}

/** Sends the request with all filters in turn over one connection, again and again, for at least so long. */
async function slice(subject: Subject, request: ShopRequest, seconds: number) {
  // Opens the connection.
  await responseOf(subject, request, FILTERS[0]);
  const latencies = new Latencies();
  const { server } = subject;
  const [spent, started] = [server.processorTime, performance.now()];
  do {
    for (const filters of FILTERS) {
      const before = performance.now();
      await responseOf(subject, request, filters);
      latencies.add(performance.now() - before);
    }
  } while (performance.now() - started < seconds * 1_000);
  return { processorTime: (server.processorTime - spent) / latencies.count, latencies };
}

/** @throws Error if the status is another than 200 */
async function responseOf(subject: Subject, request: ShopRequest, filters: Filters): Promise<HttpResponse> {
  const path = dialectOf(subject).path(request, filters);
  const response = await subject.client.get(path, request.isCounted ? COUNTING : {});
  if (response.status === 200) return response;
  throw new Error(`${path}: ${response.status} ${response.text.slice(0, 300)}`);
}

async function answerOf(subject: Subject, request: ShopRequest, filters: Filters): Promise<Answer> {
  return dialectOf(subject).answer(await responseOf(subject, request, filters));
}

function dialectOf({ name }: Subject): Dialect {
  return name === PEER ? POCKETBASE : CATALOGUE;
}

const HEADINGS = ['CPU µs', 'lowest', '× limit', 'peer ×', 'p50 ms', 'p99 ms'];

/** The ratios say how many times as long as the limit a server computes, and how many times as long the peer. */
export function shopReport(outcomes: readonly ShopOutcome[]): Report {
  const rows = outcomes.map(({ request, server, processorTimes, latencies, failure }) => {
    const timeOf = (other: string) =>
      median(outcomes.find((one) => one.request === request && one.server === other)?.processorTimes ?? []);
    const times = [median(processorTimes), Math.min(...processorTimes)];
    const ratios = [timeOf(server) / timeOf(LIMIT), timeOf(PEER) / timeOf(server)];
    const figures = [
      ...times.map(grouped),
      ...ratios.map((one) => (Number.isNaN(one) ? '–' : one.toFixed(2))),
      ...[0.5, 0.99].map((part) => milliseconds(latencies.quantile(part))),
    ];
    const none = failure === undefined ? '–' : 'failed';
    const hasFigures = failure === undefined && processorTimes.length > 0;
    return [request, server, ...(hasFigures ? figures : HEADINGS.map(() => none))];
  });
  return {
    text: table(['request', 'server', ...HEADINGS], rows),
    problems: outcomes.flatMap(({ request, server, failure }) =>
      failure === undefined ? [] : [`${request}, ${server}: ${failure}`],
    ),
  };
}
