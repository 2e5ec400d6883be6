import { Redis, ReplyError } from 'ioredis';
import type { Logger } from '../../../application/ports/logger.js';
import { unavailable } from '../../../domain/errors.js';
import { FairSemaphore } from '../../../shared/fair-semaphore.js';
import { withTimeout } from '../../../shared/promises.js';
import { GuardedConnector } from './reply-guard.js';

/** A command waits for its slot, then for its reply: at most 40 ms together, of the 50 ms that a request may wait. */
const PATIENCE = { slotMs: 16, replyMs: 24 };
const COMMAND_LIMITS = { total: 256, perClient: 256, maxWaiting: 2_048 };

/** The open circuit closes when this many successive probes got their replies in time. */
const PROBES_TO_CLOSE = 5;
const PROBE_INTERVAL_MS = 100;

/** The pause before a new connection. It grows by a step with each lost connection, until a command gets its reply. */
const RECONNECT_MS = { step: 50, max: 250 };

/** Each outage has at most so many lines with reasons. */
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
 * One connection to Redis behind a circuit breaker: a reply comes in time, or the command fails. It connects by itself,
 * and reconnects if the connection is lost. After a failure the circuit is open and commands fail immediately. Probes
 * close the circuit when Redis responds in time again.
 */
export class RedisConnection {
  readonly client: Redis;
  private readonly commands: FairSemaphore;
  private isCircuitClosed = true;
  private isOutageLogged = false;
  /** Why Redis cannot be used, as far as the log says it. */
  private readonly loggedReasons = new Set<string>();
  /** Connections that were lost or failed since a command last got its reply. */
  private losses = 0;
  private probing: NodeJS.Timeout | undefined;

  /** @param url `redis://` or, over TLS, `rediss://`; may contain a password, which is never logged */
  constructor(
    url: string,
    private readonly logger: Logger,
    private readonly patience = PATIENCE,
  ) {
    this.commands = new FairSemaphore({ ...COMMAND_LIMITS, patienceMs: patience.slotMs });
    this.client = new Redis(url, { ...OPTIONS, retryStrategy: () => this.reconnectionPause() });
    this.client.on('error', (error) => {
      this.logReason(error);
      this.reconnect();
    });
    this.client.once('ready', () => this.client.on('close', () => this.openCircuit()));
  }

  /**
   * Sends a command as soon as there is a slot for it.
   * @param command may be called in a later turn. It rejects with {@link InvalidReply} if the reply cannot belong to it
   * @throws AppError `unavailable` if there is no reply in time; immediately if the circuit is open
   */
  async send<Result>(command: () => Promise<Result>): Promise<Result> {
    const permit = this.isUsable ? await this.commands.acquire('') : undefined;
    if (!permit) throw noReply();
    const result = this.isUsable ? command() : Promise.reject(new Error('the connection was lost'));
    const release = () => permit.release();
    result.then(release, release);
    try {
      const reply = await withTimeout(result, this.patience.replyMs);
      // A command from before an outage does not end it.
      if (this.isCircuitClosed) this.logRecovery();
      this.losses = 0;
      return reply;
    } catch (error) {
      this.openCircuit();
      if (error instanceof InvalidReply) {
        this.logReason(error);
        this.reconnect();
      }
      throw noReply(error);
    }
  }

  /** Safe to call twice. */
  close(): void {
    this.isCircuitClosed = false;
    clearInterval(this.probing);
    this.client.disconnect();
  }

  private get isUsable(): boolean {
    return this.isCircuitClosed && this.client.status === 'ready';
  }

  private openCircuit(): void {
    if (!this.isCircuitClosed) return;
    this.isCircuitClosed = false;
    this.logOutage();
    let successes = 0;
    this.probing = setInterval(async () => {
      successes = (await this.probe()) ? successes + 1 : 0;
      if (successes === PROBES_TO_CLOSE) this.closeCircuit();
    }, PROBE_INTERVAL_MS).unref();
  }

  private closeCircuit(): void {
    clearInterval(this.probing);
    this.isCircuitClosed = true;
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

  /** @returns whether Redis responds in time, and to this command */
  private async probe(): Promise<boolean> {
    if (this.client.status !== 'ready') return false;
    try {
      const isReply = (await withTimeout(this.client.ping(), this.patience.replyMs)) === 'PONG';
      if (!isReply) this.reconnect();
      return isReply;
    } catch {
      return false;
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
