import type { ServerResponse } from 'node:http';
import { DRY_RUN_BYTES } from '../../../../application/records/dry-run-repository.js';
import type { Principal } from '../../../../domain/access.js';
import { unavailable } from '../../../../domain/errors.js';
import { ByteQuota } from '../../../../shared/byte-quota.js';
import {
  FairSemaphore,
  type Permit,
  type SemaphoreFigures,
  type SemaphoreLimits,
} from '../../../../shared/fair-semaphore.js';
import { andThen, type MaybePromise } from '../../../../shared/promises.js';
import { Task } from '../../../../shared/task-scheduler.js';

const KIB = 1_024;
const MIB = KIB * KIB;

/** Responses and bodies up to this size are not limited, because the buffers of a socket hold as much. */
export const SMALL_BYTES = 16 * KIB;

/** Requests that last seconds wait for their turn, because a rejected client would only send them again. */
const QUEUED = { maxWaiting: 200, patienceMs: 5_000 };
/** A batch only waits for the batches of others, which are under way. */
const PATIENT = { maxWaiting: 200, patienceMs: 60_000 };
const UNLIMITED = {
  total: Number.POSITIVE_INFINITY,
  perClient: Number.POSITIVE_INFINITY,
  maxWaiting: 0,
  patienceMs: 0,
};

/** The lines of imports that arrive in parts, in bytes of memory. */
const LINES = { perClient: 8 * MIB, total: 64 * MIB };

/** A stream can last for hours, so one that is over the limit is rejected immediately. */
const NOT_QUEUED = { maxWaiting: 0, patienceMs: 0 };

/** The maximum size of a record as JSON. A product's texts and attributes at their limits are 135 KiB of UTF-8. */
export const MAX_RECORD_BYTES = 160 * KIB;

/**
 * The limits of one process. Responses and bodies are counted in bytes, the others by number.
 * @param bodyLimitBytes the limit of one body
 */
function limitsFor(bodyLimitBytes: number) {
  const bodyBytesPerClient = Math.max(8 * MIB, bodyLimitBytes);
  return {
    /** Responses in progress: until the client has received them. */
    responses: { total: 256 * MIB, perClient: 16 * MIB, reserve: 64 * MIB, ...QUEUED },
    /** Bodies that are being read or held in memory. */
    bodies: {
      total: 8 * bodyBytesPerClient,
      perClient: bodyBytesPerClient,
      reserve: 2 * bodyBytesPerClient,
      ...QUEUED,
    },
    /** Only counted: an import may wait for its client, and holds nothing meanwhile. */
    imports: UNLIMITED,
    'dry runs': UNLIMITED,
    /** The records of imports that are being read and written. */
    'import batches': { total: 48 * MIB, perClient: 12 * MIB, reserve: 12 * MIB, ...PATIENT },
    exports: { total: 64, perClient: 8, reserve: 16, ...NOT_QUEUED },
    /** Requests that wait for a change. Each has a connection, and half of the connections stay for others. */
    waits: { total: 5_000, perClient: 8, ...NOT_QUEUED },
  } satisfies Record<string, SemaphoreLimits>;
}

export type LimitedResource = keyof ReturnType<typeof limitsFor>;

/** A request and its response, as in Koa's context. */
interface LimitedRequest extends ClientState {
  readonly res: ServerResponse;
  readonly state: ClientState['state'] & { readonly permits: Permit[]; responsePermit?: Permit };
}

/** The limits of concurrent work in this process, for each client and for all clients together. */
export class ConcurrencyLimits {
  private readonly semaphores: Readonly<Record<LimitedResource, FairSemaphore>>;
  /** The memory of lines that arrive in parts. */
  readonly lines: ByteQuota;
  /** The memory of what dry runs would have written. */
  readonly dryRuns = new ByteQuota(DRY_RUN_BYTES);

  /** @param overrides limits that replace the defaults */
  constructor(bodyLimitBytes: number, overrides: Partial<Record<LimitedResource, SemaphoreLimits>> = {}) {
    const limits = { ...limitsFor(bodyLimitBytes), ...overrides };
    this.lines = new ByteQuota({
      perClient: Math.max(LINES.perClient, 2 * bodyLimitBytes),
      total: Math.max(LINES.total, 2 * bodyLimitBytes),
    });
    const semaphores = Object.entries(limits).map(([work, own]) => [work, new FairSemaphore(own)]);
    this.semaphores = Object.fromEntries(semaphores) as Record<LimitedResource, FairSemaphore>;
  }

  figures(work: LimitedResource): SemaphoreFigures {
    return this.semaphores[work].figures;
  }

  /**
   * Takes a permit, and waits for it if need be. The middleware `responseLimits` releases it.
   * @throws AppError `unavailable`
   */
  acquire(request: LimitedRequest, work: LimitedResource, size = 1): MaybePromise<Permit> {
    return andThen(this.take(clientOf(request), work, size), (permit) => {
      request.state.permits.push(permit);
      // The client may have disconnected while it waited.
      if (request.res.closed) throw unavailable('The client is gone.');
      return permit;
    });
  }

  /**
   * Takes a permit that its taker releases, and waits for it if need be.
   * @throws AppError `unavailable`
   */
  take(client: string, work: LimitedResource, size: number): MaybePromise<Permit> {
    return andThen(this.semaphores[work].acquire(client, size), (permit) => {
      if (permit) return permit;
      throw unavailable(`This client, or all clients together, have too many ${work} under way. Try again later.`);
    });
  }

  /**
   * Reserves a permit for a response before it is built.
   * @param bytes its maximum size
   * @throws AppError `unavailable`
   */
  reserveResponse(request: LimitedRequest, bytes: number): MaybePromise<void> {
    return andThen(this.acquire(request, 'responses', bytes), (permit) => {
      request.state.responsePermit = permit;
    });
  }
}

export interface ClientState {
  readonly state: { readonly principal?: Principal; readonly address: string };
}

/** The client of a request, for limits: its principal, else its IP address. */
export function clientOf({ state }: ClientState): string {
  return state.principal?.id ?? `address:${state.address}`;
}

/** Whose work a request is. */
export function taskOf(request: ClientState): Task {
  return new Task(clientOf(request));
}
