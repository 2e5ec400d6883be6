import type { Socket } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { BAD, type FramingCase, NEXT } from './framing-cases.js';

/** A guard: a connection that stays open so long counts as one that is not closed. */
const TIMEOUT_MS = 120_000;

interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Exchange {
  readonly tested: FramingCase;
  /** The digits in the ids of its requests. */
  readonly number: string;
  readonly how: string;
  readonly responses: readonly Response[];
  readonly isClosed: boolean;
}

let connections = 0;

/** Sends the bytes of a case and the next request, piece by piece, and reads until the connection is closed. */
export async function exchange(
  tested: FramingCase,
  open: () => Socket,
  how: string,
  piecesOf: (bytes: Buffer) => readonly Buffer[],
): Promise<Exchange> {
  const number = String(++connections).padStart(6, '0');
  const text = `${tested.bytes}${tested.isLast ? '' : NEXT}`.replaceAll('NNNNNN', number);
  const socket = open();
  socket.setNoDelay(true);
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk)).on('error', () => {});
  let isClosed = false;
  const close = new Promise<void>((done) => {
    socket.once('close', () => {
      isClosed = true;
      done();
    });
  });
  for (const piece of piecesOf(Buffer.from(text, 'latin1'))) {
    if (socket.writable) socket.write(piece);
    await turn();
    await turn();
  }
  if (tested.isLast && socket.writable) socket.end();
  const timer = new AbortController();
  await Promise.race([close, sleep(TIMEOUT_MS, undefined, { signal: timer.signal }).catch(() => {})]);
  timer.abort();
  socket.destroy();
  return { tested, number, how, isClosed, responses: responsesIn(Buffer.concat(received).toString('latin1')) };
}

/** Returns the final responses. No body of the service contains a status line. */
function responsesIn(text: string): Response[] {
  return text
    .split(/(?=HTTP\/1\.[01] \d\d\d )/)
    .map((part) => {
      const [head = '', ...rest] = part.split('\r\n\r\n');
      const fields = head.split('\r\n').slice(1);
      const headers = Object.fromEntries(
        fields.map((field) => [field.split(':')[0]?.toLowerCase() ?? '', field.replace(/^[^:]*:\s*/, '')]),
      );
      const status = part.startsWith('HTTP/1.') ? Number(part.slice(9, 12)) : 0;
      return { status, headers, body: rest.join('\r\n\r\n') };
    })
    .filter(({ status, body }) => status !== 100 && (status !== 0 || body !== ''));
}

function codeOf({ status, body }: Response): string {
  const [, code] = status >= 400 ? (/^\{"code":"(\w+)"/.exec(body) ?? []) : [];
  return code === undefined ? `${status}` : `${status} ${code}`;
}

export function idOf({ headers }: Response): string {
  return headers['x-request-id'] ?? 'none';
}

export const whole = (bytes: Buffer) => [bytes];
/** Checks the responses to the bytes of one connection. @returns what is wrong, if anything */
export function faultsOf({ tested, number, responses, isClosed }: Exchange): string[] {
  const got = responses.map(codeOf);
  const next = tested.isNextServed ? ['200'] : [];
  const expected = tested.expected.map((codes) => [...codes, ...next]);
  const isExpected = expected.some((codes) => JSON.stringify(codes) === JSON.stringify(got));
  const ids = responses.map(idOf).filter((id) => id.endsWith(`-${number}`));
  const order = ['first', 'third', 'next'].map((name) => `${name}-${number}`);
  const places = ids.map((id) => order.indexOf(id));
  const isInOrder = places.every((place, at) => place >= (places[at - 1] ?? -1));
  const isNextAnswered = ids.includes(`next-${number}`);
  return [
    ...(isExpected ? [] : [`got [${got}] instead of [${expected.join('] or [')}]`]),
    ...(isInOrder ? [] : [`the ids ${ids} are not in order`]),
    ...(isNextAnswered === tested.isNextServed ? [] : [`the next request is${isNextAnswered ? '' : ' not'} served`]),
    ...(isClosed ? [] : ['the connection stays open']),
    ...responses.filter(({ status }) => status >= 400).flatMap((refusal) => shapeFaults(refusal)),
    ...responses.filter((response) => codeOf(response) === BAD).flatMap((refusal) => refusalFaults(tested, refusal)),
  ];
}

/** Checks that a refusal says that it closes the connection, and names the header that is wrong. */
function refusalFaults({ headers: named }: FramingCase, { headers, body }: Response): string[] {
  const [name = ''] = JSON.parse(body).details.map((detail: { name: string }) => detail.name);
  return [
    ...(headers['connection'] === 'close' ? [] : ['the refusal does not close the connection']),
    ...(named.some((one) => one.toLowerCase() === name.toLowerCase()) ? [] : [`the refusal names ${name}`]),
  ];
}

/** Compares a refusal with the errors of `docs/reference/api.md`. */
function shapeFaults({ status, headers, body }: Response): string[] {
  const faults: string[] = [];
  if (!headers['x-request-id']) faults.push(`${status} has no X-Request-Id`);
  if (headers['cache-control'] !== 'no-store') faults.push(`${status} may be stored`);
  if (!headers['content-type']?.startsWith('application/json')) faults.push(`${status} is not JSON`);
  // HEAD has none.
  if (body === '') return faults;
  try {
    const keys = Object.keys(JSON.parse(body));
    if (keys.join() !== 'code,message,details') faults.push(`${status} has the members ${keys}`);
  } catch {
    faults.push(`${status} has the body ${body}`);
  }
  return faults;
}
