import { setTimeout as sleep } from 'node:timers/promises';
import type { SeededService } from './seeded-service.js';
import { Latencies } from './statistics.js';

type Service = Pick<SeededService, 'products' | 'client'>;

export interface Pace {
  readonly clients: number;
  /** Milliseconds from one request of a client to its next; 0 sends the next immediately. */
  readonly everyMs: number;
  readonly seconds: number;
}

/**
 * Runs clients that each read single products at a pace. A request that had to wait for the previous response counts
 * from the time at which it was due, so that the latencies include the requests that a stalled service delays.
 * @throws Error if a response is not 200
 */
export async function readProducts(service: Service, pace: Pace): Promise<Latencies> {
  const latencies = new Latencies();
  const begin = performance.now();
  const end = begin + pace.seconds * 1_000;
  const client = async (which: number) => {
    let due = begin + (which * pace.everyMs) / pace.clients;
    while (due < end && performance.now() < end) {
      const early = due - performance.now();
      if (early > 0) await sleep(early);
      // The service is not responsible for a timer that fires late.
      const from = early > 0 || pace.everyMs === 0 ? performance.now() : due;
      await readOne(service);
      latencies.add(performance.now() - from);
      due += pace.everyMs;
    }
  };
  await Promise.all(Array.from({ length: pace.clients }, (_, which) => client(which)));
  return latencies;
}

async function readOne(service: Service): Promise<void> {
  const id = 1 + Math.floor(Math.random() * service.products);
  const response = await service.client.get(`/v1/products/${id}`);
  if (response.status !== 200)
    throw new Error(`the response for product ${id} is ${response.status} ${response.text}`);
}
