import { Redis, ReplyError } from 'ioredis';
import type { Journal } from '../../../application/ports/journal.js';
import { unavailable } from '../../../domain/errors.js';
import { FairShares } from '../../../shared/fair-shares.js';
import { inTime } from '../../../shared/timeout.js';
import { GuardedConnector } from './guarded-connector.js';

/** A command waits for its slot and then for its answer: 40 ms together, of the 50 that a request may wait. */
const COMMAND_LIMITS = { total: 256, perClient: 256, maxWaiting: 2_048, patienceMs: 16 };
const ANSWER_MS = 24;

/** After a failure Redis is left alone until so many probes in a row were answered in time. */
const STEADY_PROBES = 5;
const PROBE_INTERVAL_MS = 100;

/** The pause before a new connection. It grows by a step after each lost connection, until a command gets its reply. */
const RECONNECT_MS = { step: 50, max: 250 };

/**
 * Nothing is queued while there is no connection and nothing is sent twice. A server that has said nothing for a second
 * is connected to anew; nobody waits for that, and a shorter time would run out in a pause of this process. There is no
 * check of INFO, which is long, and repeated as fast as the server says: one that loads its data refuses commands.
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

/** A reply that cannot belong to its command. The message quotes nothing of the reply. */
export class ImpossibleReply extends Error {}

/**
 * One connection to Redis, whose answers come in time or not at all. It connects by itself, for as long as it takes,
 * and again when it is lost.
 */
export class RedisConnection {
  readonly client: Redis;
  private readonly commands = new FairShares(COMMAND_LIMITS);
  private isTrusted = true;
  private hasComplained = false;
  /** Connections that were lost, or never made, since a command last got its reply. */
  private losses = 0;
  private probing: NodeJS.Timeout | undefined;

  /** @param url `redis://` or, over TLS, `rediss://`; may hold a password, which is never shown */
  constructor(
    url: string,
    private readonly journal: Journal,
  ) {
    this.client = new Redis(url, { ...OPTIONS, retryStrategy: () => this.reconnectionPause() });
    this.client.on('error', (error) => {
      this.complain(error);
      this.drop();
    });
    this.client.once('ready', () => this.client.on('close', () => this.distrust()));
  }

  /**
   * Has a command sent as soon as there is a slot for it.
   * @param command may be called in a later turn. It rejects with {@link ImpossibleReply} where the reply cannot be one to it
   * @throws CatalogueError `unavailable` where there was no answer in time, at once while Redis is known to be in trouble
   */
  async ask<Answer>(command: () => Promise<Answer>): Promise<Answer> {
    const share = this.isUsable ? await this.commands.take('') : undefined;
    if (!share) throw noAnswer();
    const answer = this.isUsable ? command() : Promise.reject(new Error('the connection was lost'));
    const giveBack = () => share.release();
    answer.then(giveBack, giveBack);
    try {
      const reply = await inTime(answer, ANSWER_MS);
      this.hasComplained = false;
      this.losses = 0;
      return reply;
    } catch (error) {
      this.distrust();
      if (error instanceof ImpossibleReply) {
        this.complain(error);
        this.drop();
      }
      throw noAnswer(error);
    }
  }

  /** Safe to call twice. */
  close(): void {
    this.isTrusted = false;
    clearInterval(this.probing);
    this.client.disconnect();
  }

  private get isUsable(): boolean {
    return this.isTrusted && this.client.status === 'ready';
  }

  private distrust(): void {
    if (!this.isTrusted) return;
    this.isTrusted = false;
    let answered = 0;
    this.probing = setInterval(async () => {
      answered = (await this.isAnswering()) ? answered + 1 : 0;
      if (answered === STEADY_PROBES) this.trust();
    }, PROBE_INTERVAL_MS).unref();
  }

  private trust(): void {
    clearInterval(this.probing);
    this.isTrusted = true;
  }

  /** After an impossible or unexpected reply, the driver may match later replies to the wrong commands. A new connection mends that. */
  private drop(): void {
    if (this.client.status === 'ready') this.client.disconnect(true);
  }

  private reconnectionPause(): number {
    return Math.min(++this.losses * RECONNECT_MS.step, RECONNECT_MS.max);
  }

  private async isAnswering(): Promise<boolean> {
    if (this.client.status !== 'ready') return false;
    try {
      await inTime(this.client.ping(), ANSWER_MS);
      return true;
    } catch {
      return false;
    }
  }

  private complain(error: unknown): void {
    if (this.hasComplained) return;
    this.hasComplained = true;
    this.journal.warn('Redis cannot be used', { reason: reasonOf(error) });
  }
}

function noAnswer(cause?: unknown) {
  return unavailable('Redis does not answer in time.', cause);
}

/** Of Redis' own words only the first is kept, such as WRONGPASS: the others may quote a command, password and all. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error instanceof ReplyError) return error.message.split(' ', 1).join();
  return 'code' in error ? String(error.code) : error.message;
}
