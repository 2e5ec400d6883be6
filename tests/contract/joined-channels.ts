import type { Channel } from '#src/adapters/outbound/cluster/rate-limiter.js';

/** The two ends of a channel between processes. A message is carried as JSON and arrives in a later turn. */
export class JoinedChannels {
  readonly worker: Channel;
  readonly primary: Channel;
  carried = 0;
  private held: (() => void)[] | undefined;

  constructor() {
    const [toPrimary, toWorker] = [this.way(), this.way()];
    this.worker = { send: toPrimary.send, receive: toWorker.receive };
    this.primary = { send: toWorker.send, receive: toPrimary.receive };
  }

  /** Holds all messages from now on. */
  hold(): void {
    this.held = [];
  }

  /** Delivers the held messages, and holds no more. */
  release(): void {
    const held = this.held ?? [];
    this.held = undefined;
    for (const deliver of held) deliver();
  }

  private way(): Channel {
    const listeners: ((message: unknown) => void)[] = [];
    return {
      receive: (listener) => void listeners.push(listener),
      send: (message) => {
        const text = JSON.stringify(message);
        const deliver = () => {
          this.carried++;
          for (const listener of listeners) listener(JSON.parse(text));
        };
        if (this.held) this.held.push(deliver);
        else setImmediate(deliver);
      },
    };
  }
}
