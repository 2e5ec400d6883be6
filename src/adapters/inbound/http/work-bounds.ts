import type { ServerResponse } from 'node:http';
import { FairShares, type Share, type ShareLimits } from '../../../application/fair-shares.js';
import { unavailable } from '../../../domain/errors.js';
import { clientOf, type Sender } from './client.js';

const KIB = 1_024;
const MIB = KIB * KIB;

/** Responses and bodies of at most so many bytes are not bounded: the buffers of their sockets hold as much. */
export const SMALL_BYTES = 16 * KIB;

/** Requests that end within seconds wait for their turn: a client would otherwise only have to send them again. */
const WAITING = { maxWaiting: 200, patienceMs: 5_000 };
/** A stream may last for hours, so one too many is refused at once. */
const REFUSED_AT_ONCE = { maxWaiting: 0, patienceMs: 0 };

/** A streamed response has ten listeners of Koa's and of this service already, where Node warns of more. */
const MAX_LISTENERS = 20;

/** Of one process. Sizes of responses and bodies are in bytes. */
const LIMITS = {
  /** Made, or being made, and not yet taken by the client. */
  responses: { total: 128 * MIB, perClient: 32 * MIB, ...WAITING },
  /** Being read, or held by the request that brought them. */
  bodies: { total: 64 * MIB, perClient: 8 * MIB, ...WAITING },
  imports: { total: 64, perClient: 16, ...REFUSED_AT_ONCE },
  exports: { total: 64, perClient: 16, ...REFUSED_AT_ONCE },
} satisfies Record<string, ShareLimits>;

export type BoundedWork = keyof typeof LIMITS;

/** A request and its response, as Koa's context has them. */
type BoundedRequest = Sender & { readonly res: ServerResponse };

/** What requests may have under way in this process: all together, and each client. */
export class WorkBounds {
  private readonly shares: Readonly<Record<BoundedWork, FairShares>>;

  /** @param changed limits other than the usual ones */
  constructor(changed: Partial<Record<BoundedWork, ShareLimits>> = {}) {
    const limits = { ...LIMITS, ...changed };
    this.shares = {
      responses: new FairShares(limits.responses),
      bodies: new FairShares(limits.bodies),
      imports: new FairShares(limits.imports),
      exports: new FairShares(limits.exports),
    };
  }

  /**
   * Waits until the request may go on. It holds its share until its response is taken or its connection is gone.
   * @throws CatalogueError `unavailable`
   */
  async take(request: BoundedRequest, work: BoundedWork, size = 1): Promise<Share> {
    const share = await this.shares[work].take(clientOf(request), size);
    if (!share)
      throw unavailable(`Too many ${work} of this client, or of all, are under way. Try again later.`);
    request.res.setMaxListeners(MAX_LISTENERS).once('close', () => share.release());
    if (!request.res.closed) return share;
    // Nothing is done for a client that has gone while its request waited.
    share.release();
    throw unavailable('The client is gone.');
  }
}
