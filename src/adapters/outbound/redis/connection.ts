import { Redis, ReplyError } from 'ioredis';
import { CircuitBreaker } from '../../../application/maintenance/circuit-breaker.js';
import { type DiagnosticReport, ok, warning, wrong } from '../../../application/ports/diagnostics.js';
import type { Logger } from '../../../application/ports/logger.js';
import { unavailable } from '../../../domain/errors.js';
import { FairSemaphore } from '../../../shared/fair-semaphore.js';
import { pause, withTimeout } from '../../../shared/promises.js';
import { GuardedConnector } from './reply-guard.js';

/** A command waits for its slot, then for its reply: at most 40 ms together, of the 50 ms that a request may wait. */
const PATIENCE = { slotMs: 16, replyMs: 24 };
const COMMAND_LIMITS = { total: 256, perClient: 256, maxWaiting: 2_048 };

/** An outage ends when this many successive pings got their replies in time. */
const PINGS = 5;
const PING_PAUSE_MS = 100;

/** The pause before a new connection. It grows by a step with each lost connection, until a command gets its reply. */
const RECONNECT_MS = { step: 50, max: 250 };

/** The most lines with reasons in one outage. */
const MAX_REASONS = 3;

/**
 * The driver queues nothing without a connection and sends nothing twice. After a second of silence it reconnects; no
 * request waits for that, and a shorter time could pass while this process pauses. It does not check INFO: the reply is
 * long, the server decides how often it is repeated, and a server that still loads its data refuses commands anyway.
 */
const OPTIONS = {
  Connector: GuardedConnector,
  enableReadyCheck: false,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  connectTimeout: 1_000,
  socketTimeout: 1_000,
};

/** A reply that cannot belong to its command. The message quotes nothing of it. */
export class InvalidReply extends Error {}

/**
 * One connection to Redis behind a circuit breaker: a reply comes in time, or the command fails, and after it all others
 * do immediately until Redis responds in time again. It connects by itself, and reconnects if the connection is lost.
 */
export class RedisConnection {
  readonly client: Redis;
  private readonly commands: FairSemaphore;
  private readonly breaker: CircuitBreaker;
  private isOutageLogged = false;
  /** Why Redis cannot be used, as far as the log says it. */
  private readonly loggedReasons = new Set<string>();
  /** Connections that were lost or failed since a command last got its reply. */
  private losses = 0;

  /** @param url `redis://` or, over TLS, `rediss://`; may contain a password, which is never logged */
  constructor(
    url: string,
    private readonly logger: Logger,
    private readonly patience = PATIENCE,
  ) {
    this.commands = new FairSemaphore({ ...COMMAND_LIMITS, patienceMs: patience.slotMs });
    this.breaker = new CircuitBreaker({
      silenceMs: 0,
      probe: () => this.probe(),
      translate: noReply,
      signOf: () => 'down',
      now: () => performance.now(),
      onBegin: () => this.logOutage(),
    });
    this.client = new Redis(url, { ...OPTIONS, retryStrategy: () => this.reconnectionPause() });
    this.client.on('error', (error) => {
      this.logReason(error);
      this.reconnect();
    });
    this.client.once('ready', () =>
      this.client.on('close', () => this.breaker.missed(new Error('the connection was lost'))),
    );
  }

  /**
   * Sends a command as soon as there is a slot for it.
   * @param command may be called in a later turn. It rejects with {@link InvalidReply} if the reply cannot belong to it
   * @throws AppError `unavailable` if there is no reply in time; immediately during an outage
   */
  async send<Result>(command: () => Promise<Result>): Promise<Result> {
    this.check();
    const permit = await this.commands.acquire('');
    if (!permit) throw noReply();
    try {
      this.check();
    } catch (error) {
      permit.release();
      throw error;
    }
    const result = command();
    const release = () => permit.release();
    result.then(release, release);
    try {
      const reply = await this.breaker.wait(this.patience.replyMs, result);
      this.logRecovery();
      this.losses = 0;
      return reply;
    } catch (error) {
      const { cause } = error as Error;
      if (cause instanceof InvalidReply) {
        this.logReason(cause);
        this.reconnect();
      }
      throw error;
    }
  }

  /** Safe to call twice. */
  close(): void {
    this.breaker.close();
    this.client.disconnect();
  }

  private check(): void {
    this.breaker.check();
    if (this.client.status !== 'ready') throw noReply();
  }

  /**
   * After an invalid reply the driver may match later replies to the wrong commands. A new connection corrects that.
   */
  private reconnect(): void {
    if (this.client.status === 'ready') this.client.disconnect(true);
  }

  private reconnectionPause(): number {
    return Math.min(++this.losses * RECONNECT_MS.step, RECONNECT_MS.max);
  }

  /** Resolves when Redis has responded several times in a row, in time, and to this command. */
  private async probe(): Promise<void> {
    for (let ping = 0; ping < PINGS; ping++) {
      if (this.client.status !== 'ready') throw noReply();
      const reply = await withTimeout(this.client.ping(), this.patience.replyMs);
      if (reply !== 'PONG') {
        this.reconnect();
        throw noReply();
      }
      await pause(PING_PAUSE_MS);
    }
  }

  /** An outage has one line, whatever it limits. */
  private logOutage(): void {
    if (this.isOutageLogged) return;
    this.isOutageLogged = true;
    this.logger.warn('rate limits are no longer shared: this process limits on its own');
  }

  /** The first reason may be that a connection was lost, and the next one why there is no other. */
  private logReason(error: unknown): void {
    this.logOutage();
    const reason = reasonOf(error);
    if (this.loggedReasons.has(reason) || this.loggedReasons.size === MAX_REASONS) return;
    this.loggedReasons.add(reason);
    this.logger.warn('Redis cannot be used', { reason });
  }

  private logRecovery(): void {
    if (!this.isOutageLogged) return;
    this.isOutageLogged = false;
    this.loggedReasons.clear();
    this.logger.info('rate limits are shared again');
  }
}

function noReply(cause?: unknown) {
  return unavailable('Redis does not respond in time.', cause);
}

/**
 * Returns only the first word of an error of Redis, such as WRONGPASS. The others may quote a command and a password.
 */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error instanceof ReplyError) return error.message.split(' ', 1).join();
  return 'code' in error ? String(error.code) : error.message;
}

const CHECK_PATIENCE_MS = 2_000;
/** A request waits 50 ms for Redis at most. */
const SLOW_MS = 25;

/** Asks Redis for its time, twice: the first command also waits for the connection. */
export async function checkRedis(url: string, now: () => number): Promise<DiagnosticReport> {
  const client = new Redis(url, {
    Connector: GuardedConnector,
    lazyConnect: true,
    connectTimeout: CHECK_PATIENCE_MS,
    commandTimeout: CHECK_PATIENCE_MS,
    maxRetriesPerRequest: 0,
    enableReadyCheck: false,
    retryStrategy: () => null,
  });
  // The rejected command says the same.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.time();
    const sentAt = now();
    const [seconds = 0, microseconds = 0] = await client.time();
    const readAt = now();
    const time = {
      kind: 'now',
      of: "Redis's clock",
      at: seconds * 1_000 + microseconds / 1_000,
      readAt,
    } as const;
    const tookMs = Math.round(readAt - sentAt);
    const message = `it responds in ${tookMs} ms`;
    if (tookMs <= SLOW_MS) return { diagnoses: [ok('Redis', message)], time };
    const remedy = 'run it closer: no request waits over 50 ms for it, and then each process counts on its own';
    return { diagnoses: [warning('Redis', message, remedy)], time };
  } catch (error) {
    // Only the first word: the rest may quote a password.
    const { code, message: text = '' } = error as NodeJS.ErrnoException;
    const message = `it does not respond (${code ?? text.split(' ', 1).join()})`;
    const remedy = 'start it, or correct REDIS_URL; until then each process counts requests on its own';
    return { diagnoses: [wrong('Redis', message, remedy)] };
  } finally {
    client.disconnect();
  }
}
