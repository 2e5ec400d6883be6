import type { Socket } from 'node:net';
import { expect } from 'chai';
import { endStalled } from '#src/adapters/inbound/http/server/server.js';

const SILENCE_MS = 600;
const STEP_MS = 50;

/** What {@link endStalled} reads of a socket. */
class FakeSocket {
  destroyed = false;
  writableLength = 1;
  bytesRead = 0;
  bytesWritten = 0;
  _handle: object | null = { writeQueueSize: 0 };

  destroy(): void {
    this.destroyed = true;
  }
}

describe('a socket with unsent data', () => {
  let open: { readonly socket: Socket }[];
  beforeEach(() => (open = []));
  const check = (now: number) => endStalled(open, SILENCE_MS, now);

  const connected = (over: Partial<FakeSocket> = {}) => {
    const socket = Object.assign(new FakeSocket(), over);
    open.push({ socket: socket as unknown as Socket });
    return socket;
  };
  /** Changes sockets again and again, each time before a check. */
  const changing = (change: (step: number) => void) => {
    for (let step = 0; step * STEP_MS <= SILENCE_MS; step++) {
      change(step);
      check(step * STEP_MS);
    }
  };

  it('is closed after a silence in both directions, and not before', () => {
    const sockets = [connected(), connected({ _handle: null })];
    const areDestroyed = (now: number) => {
      check(now);
      return sockets.map(({ destroyed }) => destroyed);
    };
    expect(areDestroyed(0)).to.deep.equal([false, false]);
    expect(areDestroyed(SILENCE_MS - 1)).to.deep.equal([false, false]);
    expect(areDestroyed(SILENCE_MS)).to.deep.equal([true, true]);
  });

  it('stays open while bytes arrive, leave it, or are accepted by the kernel, with TLS or without', () => {
    const [reads, writesOut, plain, tls] = [connected(), connected(), connected(), connected()];
    changing((step) => {
      reads.bytesRead = step;
      writesOut.bytesWritten = step;
      plain._handle = { writeQueueSize: 1_000 - step };
      tls._handle = { writeQueueSize: 0, _parent: { writeQueueSize: 1_000 - step } };
    });
    expect([reads, writesOut, plain, tls].map(({ destroyed }) => destroyed)).to.deep.equal(Array(4).fill(false));
  });

  it('is closed although its TLS layer changes, if the connection below accepts nothing', () => {
    const socket = connected();
    changing((step) => {
      socket._handle = { writeQueueSize: step, _parent: { writeQueueSize: 1_000 } };
    });
    expect(socket.destroyed).to.equal(true);
  });

  it('stays open if everything is sent, even only once within the silence', () => {
    const [idle, drains] = [connected({ writableLength: 0 }), connected()];
    changing((step) => (drains.writableLength = step % 4 === 0 ? 0 : 1));
    expect([idle.destroyed, drains.destroyed]).to.deep.equal([false, false]);
  });
});
