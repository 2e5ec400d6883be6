import { MongoClient } from 'mongodb';
import { mongoUrl } from '../../tests/support/mongo-url.js';

/** MongoDB databases of this run, one for the service and one for bare Koa, and Redis. */
export interface Databases {
  readonly service: string;
  readonly koa: string;
  readonly redis: string;
}

/** @returns undefined if the environment names no servers */
export function databasesOfRun(): Databases | undefined {
  const { MONGODB_URL, REDIS_URL } = process.env;
  if (!MONGODB_URL || !REDIS_URL) return undefined;
  const url = (name: string) => mongoUrl(`bench_${process.pid}_${name}`);
  return { service: url('service'), koa: url('koa'), redis: REDIS_URL };
}

export async function dropDatabases({ service, koa }: Databases): Promise<void> {
  for (const url of [service, koa]) {
    const client = new MongoClient(url);
    await client.db().dropDatabase();
    await client.close();
  }
}
