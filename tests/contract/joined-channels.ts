import type { Channel } from '#src/adapters/outbound/cluster/rate-limits.js';

/** Both ends of a channel between processes. Messages travel as JSON and arrive in a later turn of the event loop. */
export class JoinedChannels {
  readonly worker: Channel;
  readonly primary: Channel;
  /** The number of delivered messages. */
  delivered = 0;
  private held: (() => void)[] | undefined;

  constructor() {
    const [toPrimary, toWorker] = [this.direction(), this.direction()];
    this.worker = { send: toPrimary.send, receive: toWorker.receive };
    this.primary = { send: toWorker.send, receive: toPrimary.receive };
  }

  /** Starts to hold back all messages. */
  hold(): void {
    this.held = [];
  }

  /** Delivers the held messages and stops holding. */
  release(): void {
    const held = this.held ?? [];
    this.held = undefined;
    for (const deliver of held) deliver();
  }

  private direction(): Channel {
    const listeners: ((message: unknown) => void)[] = [];
    return {
      receive: (listener) => void listeners.push(listener),
      send: (message) => {
        const text = JSON.stringify(message);
        const deliver = () => {
          this.delivered++;
          for (const listener of listeners) listener(JSON.parse(text));
        };
        if (this.held) this.held.push(deliver);
        else setImmediate(deliver);
      },
    };
  }
}
