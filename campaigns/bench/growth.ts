import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { grouped, table } from '../../scripts/statistics.js';
import { ARRIVAL_HEADINGS, arrivalCells, arrivalProblems, readItems } from './arrival.js';
import type { Arrivals } from './h2load.js';
import { type ListCase, listCases } from './list-cases.js';
import { exportRecords } from './ndjson.js';
import { measured, workReport } from './rounds.js';
import type { Bench, Report, Section } from './section.js';
import {
  API_KEY,
  type Definition,
  type Materials,
  makeFolder,
  type Subject,
  service,
  startEmpty,
  stopSubject,
} from './subjects.js';
import { itemPaths, PAGE, pagePaths, reads, type Work, written } from './works.js';

const SMALLEST = 1_000;
const SIZES = [SMALLEST, 100_000, 1_000_000];
/** The walk through all pages takes steps of at most this many records, the longest page of the service. */
const LONGEST_PAGE = 1_000;
const PAGES = 1_000;
/** A list that counts occupies the service longer than others, so fewer clients send it. */
const COUNTING_CLIENTS = 1;
const ITEM_READS_A_SECOND = 1_000;
/** No product has this colour, and no index knows. */
const SCAN = '/v1/products?limit=20&images.exists=true';

/** The same requests to SQLite files of three sizes, and reads of items beside long work on the largest one. */
export const GROWTH: Section = {
  name: 'growth',
  run: async (bench) => {
    const subjects: Subject[] = [];
    try {
      for (const size of SIZES) subjects.push(await startSeeded(size, bench.materials));
      const cases = new Map(SIZES.map((size) => [size, listCases(size)]));
      const names = cases.get(SMALLEST)?.map(({ name }) => name) ?? [];
      const works = [ITEM_WORK, PAGE_WORK, ...names.map((name) => listWork(name, cases))];
      const texts: string[] = [];
      const problems: string[] = [];
      for (const work of works) {
        const clients = work.name.endsWith('count=exact') ? COUNTING_CLIENTS : undefined;
        const report = workReport(work.name, await measured(work, { ...bench, subjects }, clients));
        texts.push(`### ${work.name}\n\n${report.text}`);
        problems.push(...report.problems);
      }
      const largest = subjects.at(-1);
      if (largest) {
        const report = await besideLongWork(largest, bench);
        texts.push(`### item reads beside long work\n\n${report.text}`);
        problems.push(...report.problems);
      }
      return { text: texts.join('\n\n'), problems };
    } finally {
      for (const subject of subjects) await stopSubject(subject);
    }
  },
};

const ITEM_WORK: Work = {
  name: 'GET item',
  requests: async (subject, materials) => reads(itemPaths(subject, materials, 1, subject.count)),
};

const PAGE_WORK: Work = {
  name: 'page by cursor',
  requests: async (subject, materials) => {
    const step = Math.min(LONGEST_PAGE, Math.max(PAGE, Math.floor(subject.count / PAGES)));
    return reads(written(subject, materials, 'pages', await pagePaths(subject, step)));
  },
};

function listWork(name: string, casesBySize: ReadonlyMap<number, readonly ListCase[]>): Work {
  return {
    name,
    requests: async (subject, materials) => {
      const listCase = casesBySize.get(subject.count)?.find((one) => one.name === name);
      if (!listCase) return undefined;
      const { headers, ...requests } = reads(written(subject, materials, 'list', listCase.paths));
      const prefer = listCase.prefer === undefined ? {} : { Prefer: listCase.prefer };
      return { ...requests, headers: { ...headers, ...prefer } };
    },
  };
}

async function startSeeded(size: number, materials: Materials): Promise<Subject> {
  const definition: Definition = {
    ...service(`${grouped(size)} records`, resolve('dist'), { STORE: 'sqlite' }),
    base: `${grouped(SMALLEST)} records`,
  };
  const cwd = await makeFolder(definition, materials);
  execFileSync(process.execPath, [resolve('dist/bundle/cli.js'), 'seed', '--products', `${size}`], {
    cwd,
    env: { DATA_DIR: 'data' },
  });
  return startEmpty(definition, { ...materials, count: size });
}

/** Reads items at a constant rate, first alone, then while another client scans or exports without a pause. */
async function besideLongWork(subject: Subject, bench: Bench): Promise<Report> {
  const outcomes = new Map<string, number>();
  const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  const authority = join(bench.materials.tls, 'ca.pem');
  const longWork: Readonly<Record<string, () => Promise<unknown>>> = {
    alone: async () => {},
    'beside scans': async () => count(`scan ${(await subject.client.get(SCAN)).status}`),
    'beside exports': async () =>
      count(`export of ${grouped(await exportRecords(subject.client.port, authority, API_KEY))}`),
  };
  const rows: string[][] = [];
  const problems: string[] = [];
  for (const [name, work] of Object.entries(longWork)) {
    const arrivals: Arrivals[] = [];
    await meanwhile(work, async () => {
      for (let round = 1; round <= bench.extent.rounds; round++)
        arrivals.push(await readItems(subject, bench, ITEM_READS_A_SECOND));
    });
    rows.push([name, ...arrivalCells(arrivals)]);
    problems.push(...arrivalProblems(name, arrivals));
  }
  const done = [...outcomes].map(([outcome, times]) => `${times} × ${outcome}`).join(', ');
  return { text: `${table(ARRIVAL_HEADINGS, rows)}\n\nMeanwhile: ${done}.`, problems };
}

/** Repeats some work until something else is done. */
async function meanwhile(work: () => Promise<unknown>, other: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const repeated = (async () => {
    while (!stop.signal.aborted) {
      await work();
      await setImmediate();
    }
  })();
  try {
    await Promise.race([other(), repeated]);
  } finally {
    stop.abort();
    await repeated;
  }
}
