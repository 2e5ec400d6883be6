import type { ServerResponse } from 'node:http';
import type { Principal } from '../../../domain/access.js';
import { unavailable } from '../../../domain/errors.js';
import { FairShares, type Share, type ShareLimits } from '../../../shared/fair-shares.js';

const KIB = 1_024;
const MIB = KIB * KIB;

/** Responses and bodies of at most so many bytes are not bounded: the buffers of their sockets hold as much. */
export const SMALL_BYTES = 16 * KIB;

/** Requests that end within seconds wait for their turn: a client would otherwise only have to send them again. */
const WAITING = { maxWaiting: 200, patienceMs: 5_000 };
/** A stream may last for hours, so one too many is refused at once. */
const REFUSED_AT_ONCE = { maxWaiting: 0, patienceMs: 0 };

/** No record is larger: a product's texts and attributes at their limits are 135 KiB of UTF-8. */
export const MAX_RECORD_BYTES = 160 * KIB;

/**
 * The limits of one process. Sizes of responses and bodies are in bytes.
 * @param bodyLimitBytes of one body
 */
function limitsFor(bodyLimitBytes: number) {
  const bodiesOfClient = Math.max(8 * MIB, bodyLimitBytes);
  return {
    /** Made, or being made, and not yet taken by the client. */
    responses: { total: 256 * MIB, perClient: 32 * MIB, reserve: 64 * MIB, ...WAITING },
    /** Being read, or held by the request that brought them. */
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

/** A request and its response, as Koa's context has them. */
interface BoundedRequest extends Sender {
  readonly res: ServerResponse;
  readonly state: Sender['state'] & { readonly shares: Share[]; room?: Share };
}

/** What requests may have under way in this process: all together, and each client. */
export class WorkBounds {
  private readonly shares: Readonly<Record<BoundedWork, FairShares>>;

  /** @param changed limits other than the usual ones */
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
   * Waits until the request may go on. `responseLimits` releases the share.
   * @throws CatalogueError `unavailable`
   */
  async take(request: BoundedRequest, work: BoundedWork, size = 1): Promise<Share> {
    const share = await this.shares[work].take(clientOf(request), size);
    if (!share)
      throw unavailable(
        `This client, or all clients together, have too many ${work} under way. Try again later.`,
      );
    request.state.shares.push(share);
    // Nothing is done for a client that has gone while its request waited.
    if (request.res.closed) throw unavailable('The client is gone.');
    return share;
  }

  /**
   * Reserves room for a response before it is made.
   * @param bytes that it has at most
   * @throws CatalogueError `unavailable`
   */
  async reserveResponse(request: BoundedRequest, bytes: number): Promise<void> {
    request.state.room = await this.take(request, 'responses', bytes);
  }
}

/** What is known of who sends a request. */
export interface Sender {
  readonly state: { readonly principal?: Principal; readonly address: string };
}

/** Whose limits a request counts against: its principal's, else its address's. */
export function clientOf({ state }: Sender): string {
  return state.principal?.id ?? `address:${state.address}`;
}
