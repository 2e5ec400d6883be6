import { expect } from 'chai';
import { allModules, type Module, moduleOf } from './imports.js';

/**
 * What may open connections itself: to Redis, an issuer for its keys, a collector and the ports of this machine; and
 * what is a client of the service. The drivers of stores connect for their adapters.
 */
const MAY_CONNECT = [
  'adapters/outbound/redis/',
  'adapters/outbound/tokens/',
  'adapters/outbound/opentelemetry/',
  'adapters/outbound/system/',
  'packages/client/',
  'packages/remote/https-fetch.ts',
  'packages/pages/',
];
/** Imports of values from Node's network modules. */
const FROM_NODE =
  /^import\s+(?!type\b)([^;]*?)\s+from\s+'node:(?:net|tls|https?|http2|dgram|dns(?:\/promises)?)'/gm;
/** Types, and values that only listen, respond or validate. */
const HARMLESS =
  /^(type .*|createServer( as \w+)?|createSecureContext|isIP|STATUS_CODES|ServerResponse|Server as TcpServer|validateHeaderValue)$/;
const GLOBALS = /\bfetch\(|\bnew (WebSocket|EventSource)\(/;

function connects({ source }: Module): boolean {
  const names = [...source.matchAll(FROM_NODE)].flatMap(([, clause = '']) =>
    clause
      .replace(/[{}]/g, '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  );
  return GLOBALS.test(source) || names.some((name) => !HARMLESS.test(name));
}

describe('an outgoing connection', () => {
  it('is opened only by outbound adapters and clients, so no request can choose its target', () => {
    const modules = allModules();
    for (const folder of MAY_CONNECT)
      expect(
        modules.some(({ path }) => path.startsWith(folder)),
        folder,
      ).to.equal(true);
    const others = modules.filter(({ path }) => !MAY_CONNECT.some((folder) => path.startsWith(folder)));
    expect(others.length).to.be.greaterThan(100);
    expect(others.filter(connects).map(({ path }) => path)).to.deep.equal([]);
  });

  for (const breach of [
    "await fetch('https://x');",
    "import { request } from 'node:https';",
    "import {\n  createServer,\n  request as ask,\n} from 'node:http';",
    "import { type Socket, connect } from 'node:net';",
    "import net from 'node:net';",
    "import * as dns from 'node:dns/promises';",
  ]) {
    it(`is found: ${breach.replaceAll('\n', ' ')}`, () => {
      expect(connects(moduleOf('application/x.ts', breach))).to.equal(true);
    });
  }
});
