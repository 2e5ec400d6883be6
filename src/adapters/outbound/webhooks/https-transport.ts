import { Agent, request as startRequest } from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import type {
  TargetProblem,
  WebhookOutcome,
  WebhookRequest,
  WebhookTransport,
} from '../../../application/ports/webhooks.js';
import { AppError, unavailable } from '../../../domain/errors.js';
import { FairSemaphore } from '../../../shared/fair-semaphore.js';
import { AllowedAddresses } from './allowed-addresses.js';
import { hostAddresses, NO_SERVER, type Resolve, type ResolvedAddress } from './host-addresses.js';

/** The time for the connection, the request and its response. A name has half of it, and so has the wait for its turn. */
const TIMEOUT_MS = 10_000;
/** How much of the content of a response is read, and thrown away. */
const MAX_CONTENT_BYTES = 16_384;
/** How much is taken off a connection in all, after TLS. Node would read empty lines and interim responses forever. */
const MAX_CONNECTION_BYTES = 65_536;
/** RFC 9110 section 15.2: a client takes any number of them before the final response. */
const MAX_INFORMATIONAL = 8;
/** RFC 8446 section 4.6.1: a server may send any number of them. Common ones send two. */
const MAX_SESSION_TICKETS = 8;

/** What tests replace. */
export interface TransportOptions {
  /** Default: {@link hostAddresses}. */
  readonly resolve?: Resolve;
  /** For each message. */
  readonly timeoutMs?: number;
  /** The CA to trust, in PEM. Default: those of Node, and NODE_EXTRA_CA_CERTS. */
  readonly ca?: string;
}

/** The names that this process looks up at the same time. */
const LOOK_UPS = { total: 64, perClient: 8, reserve: 16, maxWaiting: 100 };

const PROBLEMS: Readonly<Record<TargetProblem, string>> = {
  port: 'The port of the URL is not from 1 to 65535',
  unknown: 'The host has no address',
  address: 'The host has an address that is not allowed',
};
const STOPPED = 'The service stopped';
const TOO_LONG = 'The receiver sent over 64 KiB, or over 8 informational responses or session tickets';
/** The codes of what this process or machine has run out of: open files, memory, buffers. */
const OWN_SCARCITY = ['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS'];

/**
 * Sends webhooks over TLS. The addresses of a host are looked up once for each message, all of them are checked, and the
 * connection goes to one of them: a second look-up could give others. Nothing else is connected to: no proxy, no target
 * of a redirect, no connection of an earlier message.
 */
export class HttpsWebhookTransport implements WebhookTransport {
  private readonly allowed: AllowedAddresses;
  private readonly lookUps: FairSemaphore;
  private readonly agent = new Agent({ keepAlive: false, maxCachedSessions: 0 });

  /** @param networks see {@link AllowedAddresses} */
  constructor(
    networks: string,
    private readonly options: TransportOptions = {},
  ) {
    this.allowed = new AllowedAddresses(networks);
    this.lookUps = new FairSemaphore({ ...LOOK_UPS, patienceMs: this.timeoutMs / 2 });
  }

  private get timeoutMs(): number {
    return this.options.timeoutMs ?? TIMEOUT_MS;
  }

  async problemOf(url: string, client: string): Promise<TargetProblem | undefined> {
    const found = await this.addressesOf(url, client);
    return typeof found === 'string' ? found : undefined;
  }

  async post(request: WebhookRequest, signal?: AbortSignal): Promise<WebhookOutcome> {
    const limit = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    try {
      const found = await unlessAborted(this.addressesOf(request.url, request.client, signal), signal);
      if (typeof found === 'string') return { error: PROBLEMS[found] };
      timer = setTimeout(() => limit.abort(), this.timeoutMs);
      const ended = signal ? AbortSignal.any([signal, limit.signal]) : limit.signal;
      return await this.exchange(request, found, ended);
    } catch (error) {
      if (signal?.aborted) return { error: STOPPED };
      if (limit.signal.aborted) return { error: `No response within ${this.timeoutMs / 1_000} seconds` };
      if (hasCode(error, OWN_SCARCITY)) throw unavailable('The service has no connection left.', error);
      if (error instanceof AppError) throw error;
      return { error: reasonOf(error) };
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Returns the addresses of a URL's host, at least one, or why there is none to connect to.
   * @throws AppError `unavailable`
   */
  private async addressesOf(
    url: string,
    client: string,
    signal?: AbortSignal,
  ): Promise<readonly ResolvedAddress[] | TargetProblem> {
    if (!URL.canParse(url)) return URL.canParse(url.replace(PORT, '')) ? 'port' : 'unknown';
    const { protocol, hostname, port } = new URL(url);
    if (protocol !== 'https:') return 'address';
    if (port === '0') return 'port';
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const family = isIP(host);
    const addresses = family > 0 ? [{ address: host, family }] : await this.lookUp(host, client, signal);
    if (addresses.length === 0) return 'unknown';
    return addresses.every(({ address }) => this.allowed.includes(address)) ? addresses : 'address';
  }

  /** @returns nothing if the name is unknown, or not resolved in time. @throws AppError `unavailable` */
  private async lookUp(host: string, client: string, signal?: AbortSignal): Promise<readonly ResolvedAddress[]> {
    const permit = await this.lookUps.acquire(client);
    if (!permit) throw unavailable('Too many names of receivers are being looked up. Try again later.');
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), this.timeoutMs / 2);
    const ended = signal ? AbortSignal.any([signal, limit.signal]) : limit.signal;
    try {
      return await unlessAborted((this.options.resolve ?? hostAddresses)(host, ended), ended);
    } catch (error) {
      if (hasCode(error, [...OWN_SCARCITY, NO_SERVER]))
        throw unavailable('The service cannot look up names now.', error);
      return [];
    } finally {
      clearTimeout(timer);
      permit.release();
    }
  }

  private exchange(
    { url, headers, body }: WebhookRequest,
    addresses: readonly ResolvedAddress[],
    signal: AbortSignal,
  ): Promise<WebhookOutcome> {
    return new Promise((resolve, reject) => {
      const options = {
        method: 'POST',
        headers: {
          ...headers,
          'Content-Length': Buffer.byteLength(body),
          'User-Agent': 'product-catalogue-service',
        },
        agent: this.agent,
        lookup: fixedLookup(addresses),
        rejectUnauthorized: true,
        ca: this.options.ca,
        signal,
      };
      let outcome: WebhookOutcome | undefined;
      const end = (error: unknown) => {
        request.destroy();
        if (outcome) resolve(outcome);
        else reject(error);
      };
      const endIfTooLong = (amount: number, limit: number) => {
        if (amount > limit) end(new Error(TOO_LONG));
      };
      const request = startRequest(url, options, (response) => {
        outcome = { status: response.statusCode ?? 0 };
        // The status alone counts. The rest is read so that the receiver can finish, as long as it is short.
        let contentBytes = 0;
        response.on('data', ({ length }: Buffer) => {
          contentBytes += length;
          endIfTooLong(contentBytes, MAX_CONTENT_BYTES);
        });
        response.once('end', end).once('error', end);
      });
      let informational = 0;
      let tickets = 0;
      request.on('information', () => endIfTooLong(++informational, MAX_INFORMATIONAL));
      request.once('socket', (socket) => {
        passOn(socket, MAX_CONNECTION_BYTES, () => end(new Error(TOO_LONG)));
        socket.on('session', () => endIfTooLong(++tickets, MAX_SESSION_TICKETS));
      });
      request.once('error', end);
      request.once('close', () => end(new Error('The connection was closed')));
      request.end(body);
    });
  }
}

/** A look-up whose result is known. */
function fixedLookup(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_host, { all }, done) => {
    const [first] = addresses;
    if (all) done(null, [...addresses]);
    else done(null, first?.address ?? '', first?.family);
  };
}

/**
 * Lets a socket pass on this many bytes to its readers, such as the parser of HTTP, which has no limit of its own.
 * @param onMore called at the first byte behind them
 */
function passOn(socket: Socket, maxBytes: number, onMore: () => void): void {
  const push = socket.push.bind(socket);
  let left = maxBytes;
  socket.push = (chunk: Buffer | null) => {
    if (chunk === null) return push(null);
    const part = chunk.subarray(0, left);
    left -= part.length;
    const goesOn = push(part);
    if (part.length === chunk.length) return goesOn;
    onMore();
    return false;
  };
}

/** @throws Error when the signal aborts; a later result is dropped */
function unlessAborted<Result>(promise: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new Error('aborted'));
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal?.removeEventListener('abort', abort));
  });
}

/** The port of a URL that follows the rule of webhooks. */
const PORT = /(?<=^https:[/]{2}[^/?#]*):[0-9]*(?=[/?#]|$)/i;

function hasCode(error: unknown, codes: readonly string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException).code ?? '');
}

/** The codes of Node and OpenSSL name no address. Their messages do. */
function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (message === TOO_LONG) return TOO_LONG;
  return `The connection failed${code === undefined ? '' : ` (${code})`}`;
}
