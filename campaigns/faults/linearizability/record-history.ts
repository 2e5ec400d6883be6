import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { type HttpClient, type HttpResponse, versionIn } from '../../../tests/support/http-client.js';

const CHECKER = 'campaigns/faults/porcupine';
/** The codes of connections that are refused or cut. */
const BROKEN = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE'];

/** The fields that the operations write, as the checker knows them. An empty text is no value. */
export type Value = readonly [name: string, description: string, a: string, b: string];

/** A request to a record, in the words of the checker. */
export interface Asked {
  readonly kind: 'create' | 'read' | 'put' | 'patch' | 'delete';
  /** The version in `If-Match`. */
  readonly ifMatch?: number;
  readonly value?: Value;
  readonly changes?: readonly (string | null)[];
}

/** What a response says about the record. The status 0 stands for an unknown outcome. */
interface Got {
  readonly status: number;
  readonly version?: number;
  readonly result?: Value;
}

export interface Operation extends Asked, Got {
  readonly record: number;
  readonly client: number;
  /** In nanoseconds, as `return`. */
  readonly call: number;
  /** Absent if the outcome is unknown. */
  readonly return?: number;
}

export interface Verdict {
  readonly operations: number;
  readonly records: number;
  /** The ids of the records whose history has no order. */
  readonly violations: readonly number[];
  /** The ids of the records whose check took too long. */
  readonly unchecked: readonly number[];
}

const start = process.hrtime.bigint();

/** The time for {@link Operation}. */
export const now = (): number => Number(process.hrtime.bigint() - start);

/** Compiles the checker once. @returns a function that checks histories with porcupine */
export async function porcupine(folder: string): Promise<(history: readonly Operation[]) => Promise<Verdict>> {
  const program = `${folder}/porcupine-check`;
  await run('go', ['build', '-o', program, '.'], '', CHECKER);
  return async (history) =>
    JSON.parse(await run(program, [], history.map((operation) => JSON.stringify(operation)).join('\n')));
}

async function run(program: string, args: readonly string[], input: string, folder = '.'): Promise<string> {
  const child = spawn(program, args, { cwd: folder, stdio: 'pipe' });
  const failed = once(child, 'error').then(() => {
    throw new Error(`${program} is missing; on Debian: apt-get install -y golang-go`);
  });
  const ended = once(child, 'close');
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [out, error, [code]] = await Promise.race([
    Promise.all([text(child.stdout), text(child.stderr), ended]),
    failed,
  ]);
  if (code !== 0) throw new Error(`${program} ended with ${code}:\n${error}`);
  return out;
}

/** What a response to a request says. Other statuses than those of the checker throw. */
export function gotIn(response: HttpResponse, isList: boolean): Got {
  const { status, headers } = response;
  if (status === 503) return { status: 0 };
  if (status === 404 || status === 204) return { status };
  if (status !== 200 && status !== 201 && status !== 304 && status !== 412)
    throw new Error(`unexpected response ${status}: ${response.text}`);
  if (isList) {
    const [found] = response.json;
    return found ? { status, version: found.version, result: fieldsOf(found) } : { status: 404 };
  }
  const version = versionIn(headers.etag);
  return status === 304 || status === 412 ? { status, version } : { status, version, result: fieldsOf(response.json) };
}

interface Shown {
  readonly name: string;
  readonly description?: string;
  readonly attributes?: { readonly a?: string; readonly b?: string };
}

function fieldsOf({ name, description = '', attributes: { a = '', b = '' } = {} }: Shown): Value {
  return [name, description, a, b];
}

/** The body of a POST or PUT. */
export function bodyOf([name, description, a, b]: Value): Shown {
  return {
    name,
    ...(description && { description }),
    attributes: { ...(a && { a }), ...(b && { b }) },
  };
}

/** The body of a merge patch. */
function patchOf([name, description, a, b]: readonly (string | null)[]): object {
  const attributes = { ...(a != null && { a: a || null }), ...(b != null && { b: b || null }) };
  return {
    ...(name != null && { name }),
    ...(description != null && { description: description || null }),
    ...(Object.keys(attributes).length > 0 && { attributes }),
  };
}

/** Returns the code of an error of a connection. @throws any other error */
export function codeOfBroken(error: unknown): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (!BROKEN.includes(code)) throw error;
  return code;
}

/** Sends a request. @returns the status 0 if it got no response, so that its outcome is unknown */
export async function ask(
  client: HttpClient,
  id: number,
  asked: Asked,
  read: { readonly list?: boolean; readonly ifNoneMatch?: number } = {},
): Promise<Got> {
  const { kind, ifMatch, value, changes } = asked;
  const headers: Record<string, string> = {
    ...(ifMatch !== undefined && { 'If-Match': `"${ifMatch}"` }),
    ...(read.ifNoneMatch !== undefined && { 'If-None-Match': `"${read.ifNoneMatch}"` }),
  };
  const path = `/products/${id}`;
  let response: HttpResponse;
  try {
    if (read.list) response = await client.get(`/products?id=${id}&fields=name,description,attributes,version`);
    else if (kind === 'read') response = await client.get(path, { headers });
    else if (kind === 'delete') response = await client.delete(path, { headers });
    else if (kind === 'put' && value) response = await client.put(path, bodyOf(value), { headers });
    else if (kind === 'patch' && changes) response = await client.patch(path, patchOf(changes), { headers });
    else throw new TypeError(`no request of kind ${kind}`);
  } catch (error) {
    // A refused connection carried no request.
    return { status: codeOfBroken(error) === 'ECONNREFUSED' ? -1 : 0 };
  }
  return gotIn(response, read.list === true);
}
