import type { Materials, Subject } from './subjects.js';
import { patches, type Work } from './works.js';
import { type Requests, type Slice, wrk } from './wrk.js';

/** A slice of load on one server. */
export interface Sample extends Slice {
  /** Microseconds of the server's processor time for each request. */
  readonly processorTime: number;
}

export interface Outcome {
  readonly work: string;
  readonly server: string;
  readonly samples: readonly Sample[];
  readonly residentMemory: number;
}

export interface Extent {
  readonly seconds: number;
  readonly rounds: number;
  readonly products: number;
}

const WRITERS = 2;
const WRITES_A_SECOND = 100;
const WARM_UP_SECONDS = 1;

/** Gives every server its share of the load in turn, round after round, so that noise affects all alike. */
export async function measured(
  work: Work,
  subjects: readonly Subject[],
  materials: Materials,
  extent: Extent,
): Promise<Outcome[]> {
  const loads = [];
  for (const subject of subjects) {
    const requests = await work.requests(subject, materials, extent.products);
    const writes = work.besideWrites ? patches(subject, materials, extent.products) : undefined;
    loads.push({ subject, requests, writes, samples: [] as Sample[] });
  }
  for (const { subject, requests } of loads)
    await wrk(subject.server.port, requests, { seconds: WARM_UP_SECONDS });
  for (let round = 0; round < extent.rounds; round++)
    for (const { subject, requests, writes, samples } of loads)
      samples.push(await sample(subject, requests, writes, extent.seconds));
  return loads.map(({ subject: { name, server }, samples }) => {
    return { work: work.name, server: name, samples, residentMemory: server.residentMemory };
  });
}

async function sample(
  { server }: Subject,
  requests: Requests,
  writes: Requests | undefined,
  seconds: number,
): Promise<Sample> {
  const before = server.processorTime;
  const [slice, written] = await Promise.all([
    wrk(server.port, requests, { seconds }),
    writes && wrk(server.port, writes, { seconds, ...pace() }),
  ]);
  const spent = server.processorTime - before;
  const errors = slice.errors + (written?.errors ?? 0);
  const firstError = slice.firstError || (written?.firstError ?? '');
  const count = slice.requests + (written?.requests ?? 0);
  return { ...slice, errors, firstError, processorTime: spent / count };
}

function pace() {
  return { connections: WRITERS, pauseMs: (1_000 * WRITERS) / WRITES_A_SECOND };
}
