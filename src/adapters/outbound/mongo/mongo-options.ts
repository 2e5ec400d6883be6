import type { MongoClientOptions } from 'mongodb';

/** For the driver's own second try and its search for another primary, beside the time-out of the socket. */
const SECOND_TRY_MS = 300;

/**
 * The driver's own defaults wait 30 seconds or for ever. Each may be set otherwise in MONGODB_URL, by the same name;
 * what the writes and reads promise may not.
 */
const DEFAULTS = {
  serverSelectionTimeoutMS: 1_000,
  connectTimeoutMS: 1_000,
  socketTimeoutMS: 1_500,
  waitQueueTimeoutMS: 1_000,
  heartbeatFrequencyMS: 1_000,
  minHeartbeatFrequencyMS: 100,
  maxPoolSize: 50,
  minPoolSize: 2,
  maxIdleTimeMS: 60_000,
} satisfies MongoClientOptions;

const PROMISES = {
  appName: 'product-catalogue-service',
  writeConcern: { w: 'majority', journal: true, wtimeoutMS: 1_500 },
  readConcern: { level: 'majority' },
  readPreference: 'primary',
  retryWrites: true,
  retryReads: true,
  ignoreUndefined: true,
} satisfies MongoClientOptions;

/** @param longestMs of anything that is asked of the server, the answer's way included */
export function optionsFor(url: string, longestMs: number): MongoClientOptions {
  const defaults = { ...DEFAULTS, socketTimeoutMS: Math.max(DEFAULTS.socketTimeoutMS, longestMs) };
  const named = namedIn(url);
  const unnamed = Object.entries(defaults).filter(([name]) => !named.has(name));
  return { ...Object.fromEntries(unnamed), ...PROMISES };
}

/** So long a caller waits for an ordinary operation. */
export function operationMsOf(url: string, { socketTimeoutMS = 0 }: MongoClientOptions): number {
  return SECOND_TRY_MS + (namedIn(url).has('socketTimeoutMS') ? socketTimeoutMS : DEFAULTS.socketTimeoutMS);
}

function namedIn(url: string): ReadonlySet<string | undefined> {
  return new Set([...url.matchAll(/[?&]([A-Za-z]+)=/g)].map(([, name]) => name));
}
