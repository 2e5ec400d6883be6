import { lookup as lookUp } from 'node:dns/promises';
import { Agent, request as startRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type {
  WebhookOutcome,
  WebhookRequest,
  WebhookTransport,
} from '../../../application/ports/webhook-transport.js';
import { AppError, unavailable } from '../../../domain/errors.js';
import { FairSemaphore } from '../../../shared/fair-semaphore.js';
import { withTimeout } from '../../../shared/timeout.js';
import { AllowedAddresses } from './allowed-addresses.js';

/** The time for the name, the connection, the request and its response. */
const TIMEOUT_MS = 10_000;
/** So much of a response is read, and thrown away. */
const MAX_RESPONSE_BYTES = 16_384;

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Returns the addresses of a name. @throws Error if there is none */
export type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>;

/** What tests replace. */
export interface TransportOptions {
  /** Default: asks the system. */
  readonly resolve?: Resolve;
  /** For each message. */
  readonly timeoutMs?: number;
  /** The CA to trust, in PEM. Default: those of Node, and NODE_EXTRA_CA_CERTS. */
  readonly ca?: string;
}

/** Asks the system, /etc/hosts included. */
const systemResolve: Resolve = (host) => lookUp(host, { all: true, verbatim: true });

/** A look-up holds one of the four threads on which Node also reads files, until the system gives up. */
const LOOK_UPS = { total: 2, perClient: 1, maxWaiting: 100 };

const NOT_ALLOWED = 'The host has no address, or one that is not allowed';
const TOO_MANY_NAMES = 'Too many names of receivers are being looked up';

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
    // After it has waited for its turn, a look-up has the other half of the time.
    this.lookUps = new FairSemaphore({ ...LOOK_UPS, patienceMs: this.timeoutMs / 2 });
  }

  private get timeoutMs(): number {
    return this.options.timeoutMs ?? TIMEOUT_MS;
  }

  async allows(url: string, client: string): Promise<boolean> {
    return withTimeout(this.addressesOf(url, client), this.timeoutMs).then(
      (addresses) => addresses !== undefined,
      (error) => {
        if (error instanceof AppError) throw error;
        return false;
      },
    );
  }

  async post(request: WebhookRequest, signal?: AbortSignal): Promise<WebhookOutcome> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), this.timeoutMs);
    const ended = signal ? AbortSignal.any([signal, limit.signal]) : limit.signal;
    try {
      const addresses = await unlessAborted(this.addressesOf(request.url, request.client), ended);
      return addresses ? await this.exchange(request, addresses, ended) : { error: NOT_ALLOWED };
    } catch (error) {
      if (limit.signal.aborted) return { error: `No response within ${this.timeoutMs / 1_000} seconds` };
      if (ended.aborted) return { error: 'The service stopped' };
      return { error: error instanceof AppError ? TOO_MANY_NAMES : reasonOf(error) };
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * @returns undefined if there is none, or one is not allowed
   * @throws AppError `unavailable`
   */
  private async addressesOf(url: string, client: string): Promise<readonly ResolvedAddress[] | undefined> {
    if (!URL.canParse(url)) return undefined;
    const { protocol, hostname } = new URL(url);
    if (protocol !== 'https:') return undefined;
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const family = isIP(host);
    const addresses = family > 0 ? [{ address: host, family }] : await this.lookUp(host, client);
    const isAllowed =
      addresses.length > 0 && addresses.every(({ address }) => this.allowed.includes(address));
    return isAllowed ? addresses : undefined;
  }

  /** @returns nothing if the name is unknown. @throws AppError `unavailable` */
  private async lookUp(host: string, client: string): Promise<readonly ResolvedAddress[]> {
    const permit = await this.lookUps.acquire(client);
    if (!permit) throw unavailable(`${TOO_MANY_NAMES}. Try again later.`);
    try {
      return await (this.options.resolve ?? systemResolve)(host);
    } catch {
      return [];
    } finally {
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
      const request = startRequest(url, options, (response) => {
        outcome = { status: response.statusCode ?? 0 };
        // The status alone counts. The rest is read so that the receiver can finish, as long as it is short.
        let bytes = 0;
        response.on('data', ({ length }: Buffer) => {
          bytes += length;
          if (bytes > MAX_RESPONSE_BYTES) end(undefined);
        });
        response.once('end', end).once('error', end);
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

function unlessAborted<Result>(promise: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new Error('aborted'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** The codes of Node and OpenSSL name no address. Their messages do. */
function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return `The connection failed${code === undefined ? '' : ` (${code})`}`;
}
