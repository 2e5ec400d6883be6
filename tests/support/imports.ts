import { expect } from 'chai';
import { DEFINITIONS } from '#src/composition/resources.js';
import type { HttpClient, HttpResponse } from './http-client.js';
import { jsonLines, type ResultLine } from './line-stream.js';

export const NDJSON = { 'Content-Type': 'application/x-ndjson' };
export const CSV = { 'Content-Type': 'text/csv' };

/** Returns lines of NDJSON. A text is a line as it is. */
export function ndjson(lines: readonly unknown[]): string {
  return lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
}

/** Returns the results of an import, in order. */
export function resultsOf({ status, text }: HttpResponse): ResultLine[] {
  expect(status, text).to.equal(200);
  return jsonLines(text);
}

/** The status of each result; of an error its code and, if it has details, the code and pointer of each. */
export const outcomes = (results: readonly ResultLine[]) =>
  results.map(({ status, error }) =>
    error ? [status, error.code, ...error.details.map((one: ResultLine) => `${one.code} ${one.pointer}`)] : status,
  );

interface RehearsedImport {
  /** With its parameters, but `dryRun`. */
  readonly target: string;
  readonly body: string;
  readonly headers?: Record<string, string>;
}

/**
 * Imports what it has rehearsed: first a dry run, which changes nothing and has the results of the run.
 * @returns the results of the run
 */
export async function rehearsedImport(
  client: HttpClient,
  { target, body, headers = NDJSON }: RehearsedImport,
): Promise<ResultLine[]> {
  const [path = ''] = target.split('?');
  const before = await stateOf(client, path.replace('/imports', ''));
  const dry = await client.post(`${target}${target.includes('?') ? '&' : '?'}dryRun=true`, body, { headers });
  expect(await stateOf(client, path.replace('/imports', '')), 'after the dry run').to.equal(before);
  const run = resultsOf(await client.post(target, body, { headers }));
  expect(resultsOf(dry), 'of the dry run').to.deep.equal(withoutNewIds(run));
  return run;
}

/** Every record of a collection, with all that the service keeps of it. */
async function stateOf(client: HttpClient, collection: string): Promise<string> {
  const plural = collection.split('/').at(-1) as keyof typeof DEFINITIONS;
  const fields = ['id', ...Object.keys(DEFINITIONS[plural].table), 'version', 'createdAt', 'updatedAt'];
  const headers = { Accept: 'application/x-ndjson' };
  const { status, text } = await client.get(`${collection}?fields=${fields}`, { headers });
  expect(status, text).to.equal(200);
  return text;
}

/** The results as a dry run has them: it knows no id of a record that it would create. */
function withoutNewIds(results: readonly ResultLine[]): ResultLine[] {
  const ids = new Set(results.filter(({ status }) => status === 201).map(({ id }) => id));
  return JSON.parse(JSON.stringify(results), (_, value) => {
    if (typeof value !== 'object' || value === null || !ids.has(value.id)) return value;
    const { id: _id, ...rest } = value;
    return rest;
  });
}
