import { EventEmitter, once } from 'node:events';
import type { Server } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { limitStalledWrites } from '#src/adapters/inbound/http/server/node-workarounds.js';
import { listen } from '#src/composition/listen.js';

const SILENCE_MS = 600;
/** Within the silence, and often enough that a busy machine does not make a pause of it. */
const STEP_MS = 50;
/** After this time the silence is over. The clock is compared 30 times within it. */
const OVER_MS = 1.5 * SILENCE_MS;

/** What {@link limitStalledWrites} reads of a socket. */
class FakeSocket extends EventEmitter {
  destroyed = false;
  writableLength = 1;
  bytesRead = 0;
  bytesWritten = 0;
  _handle: object | null = { writeQueueSize: 0 };

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

describe('a socket with unsent data', () => {
  let server: EventEmitter;
  beforeEach(() => {
    server = new EventEmitter();
    limitStalledWrites(server as Server, 'connection', SILENCE_MS);
  });
  afterEach(() => server.emit('close'));

  const connected = (over: Partial<FakeSocket> = {}) => {
    const socket = Object.assign(new FakeSocket(), over);
    server.emit('connection', socket);
    return socket;
  };
  /** Changes sockets again and again for longer than the silence. */
  const changing = async (change: (step: number) => void) => {
    for (let step = 1; step * STEP_MS < OVER_MS; step++) {
      change(step);
      await sleep(STEP_MS);
    }
  };

  it('is closed after a silence in both directions, and not before', async () => {
    const sockets = [connected(), connected({ _handle: null })];
    const begin = performance.now();
    let at = 0;
    sockets[0]?.once('close', () => (at = performance.now()));
    await sleep(OVER_MS);
    expect(sockets.map(({ destroyed }) => destroyed)).to.deep.equal([true, true]);
    expect(at - begin).to.be.at.least(SILENCE_MS);
  });

  it('stays open while bytes arrive, leave it, or are accepted by the kernel, with TLS or without', async () => {
    const [reads, writes, plain, tls] = [connected(), connected(), connected(), connected()];
    await changing((step) => {
      reads.bytesRead = step;
      writes.bytesWritten = step;
      plain._handle = { writeQueueSize: 1_000 - step };
      tls._handle = { writeQueueSize: 0, _parent: { writeQueueSize: 1_000 - step } };
    });
    expect([reads, writes, plain, tls].map(({ destroyed }) => destroyed)).to.deep.equal(Array(4).fill(false));
  });

  it('is closed although its TLS layer changes, if the connection below accepts nothing', async () => {
    const socket = connected();
    await changing((step) => {
      socket._handle = { writeQueueSize: step, _parent: { writeQueueSize: 1_000 } };
    });
    expect(socket.destroyed).to.equal(true);
  });

  it('stays open if everything is sent, even only once within the silence', async () => {
    const [idle, drains] = [connected({ writableLength: 0 }), connected()];
    await changing((step) => {
      drains.writableLength = step % 4 === 0 ? 0 : 1;
    });
    expect([idle.destroyed, drains.destroyed]).to.deep.equal([false, false]);
  });

  it('is left alone when its server is closed', async () => {
    const socket = connected();
    server.emit('close');
    await sleep(OVER_MS);
    expect(socket.destroyed).to.equal(false);
  });
});

describe('a client that does not read', () => {
  it('is disconnected, and one that reads is not', async () => {
    const sockets: Socket[] = [];
    const disconnected: (number | undefined)[] = [];
    const chunk = Buffer.alloc(65_536);
    const server = createServer((socket) => {
      const { remotePort } = socket;
      sockets.push(socket);
      socket.once('close', () => disconnected.push(remotePort));
      const fill = () => {
        while (socket.write(chunk));
      };
      socket.on('drain', fill);
      fill();
    });
    limitStalledWrites(server as Server, 'connection', SILENCE_MS);
    const port = await listen(server as Server, '127.0.0.1', 0);
    const [silent, reader] = [connect(port, '127.0.0.1').pause(), connect(port, '127.0.0.1').resume()];
    await Promise.all([once(silent, 'connect'), once(reader, 'connect')]);
    await sleep(OVER_MS + SILENCE_MS);
    expect(disconnected).to.deep.equal([silent.localPort]);
    for (const socket of [silent, reader, ...sockets]) socket.destroy();
    server.close();
    await once(server, 'close');
  });
});
