import { expect } from 'chai';
import { type Module, moduleOf, modulesUnder } from './imports.js';

/** Where a connection may be begun from: by the drivers of stores and of Redis, and for an issuer's keys. */
const MAY_CONNECT = /^adapters\/outbound\/(mongo|redis|tokens)\//;
/** Values that begin one; types and what listens or answers may be had everywhere. */
const FROM_NODE =
  /^import\s+(?!type\b)([^;]*?)\s+from\s+'node:(?:net|tls|https?|http2|dgram|dns(?:\/promises)?)'/gm;
const HARMLESS =
  /^(type .*|createServer( as \w+)?|createSecureContext|isIP|STATUS_CODES|Server as TcpServer)$/;
const DESCRIPTIONS = /\bfetch\(|\bnew (WebSocket|EventSource)\(/;

function connects({ source }: Module): boolean {
  const names = [...source.matchAll(FROM_NODE)].flatMap(([, clause = '']) =>
    clause
      .replace(/[{}]/g, '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  );
  return DESCRIPTIONS.test(source) || names.some((name) => !HARMLESS.test(name));
}

describe('a connection to elsewhere', () => {
  it('is begun by outbound adapters alone, so that no request can have one made to where it says', () => {
    const others = modulesUnder('src').filter(({ path }) => !MAY_CONNECT.test(path));
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
    it(`is seen: ${breach.replaceAll('\n', ' ')}`, () => {
      expect(connects(moduleOf('application/x.ts', breach))).to.equal(true);
    });
  }
});
