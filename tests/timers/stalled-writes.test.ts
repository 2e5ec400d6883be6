import { EventEmitter, once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { limitStalledWrites } from '#src/adapters/inbound/http/server/server.js';
import { listen } from '#src/process/listen.js';
import { until } from '../support/until.js';

/** Far longer than a busy machine pauses a reader. */
const SILENCE_MS = 4_000;

describe('a client that does not read', () => {
  it('is disconnected, and one that reads is not', async () => {
    const open: { readonly socket: Socket }[] = [];
    const disconnected: (number | undefined)[] = [];
    const chunk = Buffer.alloc(65_536);
    const server = createServer((socket) => {
      const { remotePort } = socket;
      open.push({ socket: socket.on('error', () => {}) });
      socket.once('close', () => disconnected.push(remotePort));
      const fill = () => {
        while (socket.write(chunk));
      };
      socket.on('drain', fill);
      fill();
    });
    limitStalledWrites(server, open, SILENCE_MS);
    const port = await listen(server, '127.0.0.1', 0);
    const [silent, reader] = [connect(port, '127.0.0.1').pause(), connect(port, '127.0.0.1').resume()];
    await Promise.all([once(silent, 'connect'), once(reader, 'connect')]);
    await until('one is disconnected', () => disconnected.includes(silent.localPort));
    expect(disconnected).to.not.include(reader.localPort);
    for (const { socket } of [{ socket: silent }, { socket: reader }, ...open]) socket.destroy();
    server.close();
    await once(server, 'close');
  });
});

describe('a socket with unsent data', () => {
  it('is left alone when its server is closed', async () => {
    const server = new EventEmitter();
    let isDestroyed = false;
    const socket = { writableLength: 1, destroy: () => (isDestroyed = true) };
    limitStalledWrites(server as Server, [{ socket: socket as unknown as Socket }], 100);
    server.emit('close');
    await sleep(200);
    expect(isDestroyed).to.equal(false);
  });
});
