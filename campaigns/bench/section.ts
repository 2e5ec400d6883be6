import type { Materials, Subject } from './subjects.js';

/** How long and how much to measure. */
export interface Extent {
  /** The length of one slice of load. */
  readonly seconds: number;
  readonly rounds: number;
  /** How many of them send requests, one after the other each. */
  readonly connections: number;
  readonly products: number;
}

export interface Bench {
  readonly subjects: readonly Subject[];
  readonly materials: Materials;
  readonly extent: Extent;
  /** The requests per second of servers by kind of request, as far as they are measured. */
  readonly rates: Map<string, number>;
}

/** One part of the report. */
export interface Section {
  readonly name: string;
  run(bench: Bench): Promise<Report>;
}

export interface Report {
  /** Markdown. */
  readonly text: string;
  /** Each makes the benchmark fail. */
  readonly problems: readonly string[];
}

export const rateKey = (work: string, server: string) => `${work}: ${server}`;
