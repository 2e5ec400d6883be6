import type { ServerResponse } from 'node:http';
import type { Principal } from '../../../domain/access.js';
import { unavailable } from '../../../domain/errors.js';
import { FairShares, type Share, type ShareLimits } from '../../../shared/fair-shares.js';

const KIB = 1_024;
const MIB = KIB * KIB;

/** Responses and bodies up to this size are not limited, because the buffers of their sockets hold as much. */
export const SMALL_BYTES = 16 * KIB;

/** Requests that end within seconds wait for their turn. Otherwise the client would only send them again. */
const WAITING = { maxWaiting: 200, patienceMs: 5_000 };
/** A stream can last for hours, so one too many is refused immediately. */
const REFUSED_AT_ONCE = { maxWaiting: 0, patienceMs: 0 };

/** No record is larger: a product's texts and attributes at their limits are 135 KiB of UTF-8. */
export const MAX_RECORD_BYTES = 160 * KIB;

/**
 * The limits of one process. Sizes of responses and bodies are in bytes.
 * @param bodyLimitBytes the limit of one body
 */
function limitsFor(bodyLimitBytes: number) {
  const bodiesOfClient = Math.max(8 * MIB, bodyLimitBytes);
  return {
    /** Being made, or not yet taken by the client. */
    responses: { total: 256 * MIB, perClient: 32 * MIB, reserve: 64 * MIB, ...WAITING },
    /** Being read, or held by their request. */
    bodies: {
      total: 8 * bodiesOfClient,
      perClient: bodiesOfClient,
      reserve: 2 * bodiesOfClient,
      ...WAITING,
    },
    imports: { total: 64, perClient: 8, reserve: 16, ...REFUSED_AT_ONCE },
    exports: { total: 64, perClient: 8, reserve: 16, ...REFUSED_AT_ONCE },
  } satisfies Record<string, ShareLimits>;
}

export type BoundedWork = keyof ReturnType<typeof limitsFor>;

/** A request and its response, as in Koa's context. */
interface BoundedRequest extends Sender {
  readonly res: ServerResponse;
  readonly state: Sender['state'] & { readonly shares: Share[]; room?: Share };
}

/** Limits the concurrent work in this process: of all clients together, and of each client. */
export class WorkLimits {
  private readonly shares: Readonly<Record<BoundedWork, FairShares>>;

  /** @param changed limits other than the defaults */
  constructor(bodyLimitBytes: number, changed: Partial<Record<BoundedWork, ShareLimits>> = {}) {
    const limits = { ...limitsFor(bodyLimitBytes), ...changed };
    this.shares = {
      responses: new FairShares(limits.responses),
      bodies: new FairShares(limits.bodies),
      imports: new FairShares(limits.imports),
      exports: new FairShares(limits.exports),
    };
  }

  /**
   * Waits until the request may proceed. `responseLimits` releases the share.
   * @throws AppError `unavailable`
   */
  async take(request: BoundedRequest, work: BoundedWork, size = 1): Promise<Share> {
    const share = await this.shares[work].take(clientOf(request), size);
    if (!share)
      throw unavailable(
        `This client, or all clients together, have too many ${work} under way. Try again later.`,
      );
    request.state.shares.push(share);
    // The client can be gone by now, and then needs no response.
    if (request.res.closed) throw unavailable('The client is gone.');
    return share;
  }

  /**
   * Reserves room for a response before it is made.
   * @param bytes its maximum size
   * @throws AppError `unavailable`
   */
  async reserveResponse(request: BoundedRequest, bytes: number): Promise<void> {
    request.state.room = await this.take(request, 'responses', bytes);
  }
}

/** The sender of a request. */
export interface Sender {
  readonly state: { readonly principal?: Principal; readonly address: string };
}

/** Identifies the client for limits: its principal, else its address. */
export function clientOf({ state }: Sender): string {
  return state.principal?.id ?? `address:${state.address}`;
}
