import { setTimeout as sleep } from 'node:timers/promises';
import { grouped, median, table } from '../../scripts/statistics.js';
import type { Section } from './section.js';
import { BASE, type Definition, type Materials, startEmpty, stopSubject } from './subjects.js';

const IDLE_MS = 1_000;

interface Start {
  readonly milliseconds: number;
  readonly cpuMilliseconds: number;
  readonly idleMiB: number;
}

/** More processes of each server, from their start until they respond with 200. Their stores are empty. */
export const START: Section = {
  name: 'start',
  run: async ({ subjects, materials, extent }) => {
    const chosen = subjects.filter(({ isService, name }) => isService || name === BASE);
    const definitions = chosen.map((one): Definition => ({ ...one, name: `${one.name}, started` }));
    const starts = definitions.map((): Start[] => []);
    // The first start creates the store.
    for (let round = 0; round <= extent.rounds; round++)
      for (const [at, definition] of definitions.entries()) {
        const start = await timed(definition, materials);
        if (round > 0) starts[at]?.push(start);
      }
    const figure = (all: readonly Start[], of: (start: Start) => number) => grouped(median(all.map(of)));
    const text = table(
      ['server', 'ms to the first 200', 'CPU ms', 'idle MiB'],
      chosen.map(({ name }, at) => {
        const all = starts[at] ?? [];
        return [
          name,
          figure(all, ({ milliseconds }) => milliseconds),
          figure(all, ({ cpuMilliseconds }) => cpuMilliseconds),
          figure(all, ({ idleMiB }) => idleMiB),
        ];
      }),
    );
    return { text, problems: [] };
  },
};

async function timed(definition: Definition, materials: Materials): Promise<Start> {
  const started = performance.now();
  const subject = await startEmpty(definition, materials);
  try {
    while ((await subject.client.get(definition.api.firstPage(1))).status !== 200) await sleep(5);
    const milliseconds = performance.now() - started;
    const cpuMilliseconds = subject.server.processorTime / 1_000;
    await sleep(IDLE_MS);
    return { milliseconds, cpuMilliseconds, idleMiB: subject.server.residentMemory };
  } finally {
    await stopSubject(subject);
  }
}
