import { expect } from 'chai';
import { allModules, importedNames, type Module, moduleOf } from './imports.js';

/** What may connect to a target that a client chose: it checks each address, and connects to the checked one. */
const CHOSEN_TARGETS = 'adapters/outbound/webhooks/';
/**
 * What may open connections itself: to Redis, an issuer for its keys, a collector, the ports of this machine and the
 * receivers of webhooks; and what is a client of the service. The drivers of stores connect for their adapters.
 */
const MAY_CONNECT = [
  CHOSEN_TARGETS,
  'adapters/outbound/redis/',
  'adapters/outbound/tokens/',
  'adapters/outbound/opentelemetry/',
  'adapters/outbound/system/',
  'packages/client/',
  'packages/remote/https-fetch.ts',
  'packages/pages/',
];
/** Imports of values from Node's network modules. */
const FROM_NODE = /^import\s+(?!type\b)([^;]*?)\s+from\s+'node:(?:net|tls|https?|http2|dgram|dns(?:\/promises)?)'/gm;
/** Types, and values that only listen, respond or validate. */
const HARMLESS =
  /^(type .*|createServer( as \w+)?|createSecureContext|isIP|STATUS_CODES|ServerResponse|Server as TcpServer|validateHeaderValue)$/;
const GLOBALS = /\bfetch\(|\bnew (WebSocket|EventSource)\(/;

function connects({ source }: Module): boolean {
  return GLOBALS.test(source) || importedNames(source, FROM_NODE).some((name) => !HARMLESS.test(name));
}

describe('an outgoing connection', () => {
  it('is opened only by outbound adapters and clients', () => {
    const modules = allModules();
    const isUsed = (folder: string) => modules.some(({ path }) => path.startsWith(folder));
    expect(MAY_CONNECT.filter((folder) => !isUsed(folder))).to.deep.equal([]);
    const others = modules.filter(({ path }) => !MAY_CONNECT.some((folder) => path.startsWith(folder)));
    expect(others.length).to.be.greaterThan(100);
    expect(others.filter(connects).map(({ path }) => path)).to.deep.equal([]);
  });

  it('has a target that a client chose only in the transport of webhooks, which one part of the service makes', () => {
    const importers = allModules().filter(({ imports }) => imports.some((target) => target.startsWith(CHOSEN_TARGETS)));
    const others = importers.filter(({ path }) => !path.startsWith(CHOSEN_TARGETS));
    expect(others.map(({ path }) => path)).to.deep.equal(['composition/application.ts']);
    const sending = allModules().filter(
      ({ path, source }) => path.startsWith(CHOSEN_TARGETS) && connects({ path, source, imports: [] }),
    );
    expect(sending.map(({ path }) => path)).to.deep.equal([
      `${CHOSEN_TARGETS}host-addresses.ts`,
      `${CHOSEN_TARGETS}https-transport.ts`,
    ]);
    // It asks for addresses alone.
    expect(sending[0]?.source.match(FROM_NODE)).to.deep.equal([
      "import { Resolver } from 'node:dns/promises'",
      "import { isIP } from 'node:net'",
    ]);
    const source = sending[1]?.source ?? '';
    // The addresses are found and checked by one function, and each request has a look-up that knows its answer.
    expect(source.match(/\bstartRequest\(/g)).to.have.length(1);
    expect(source).to.include('lookup: fixedLookup(addresses)').and.include('agent: this.agent');
  });

  for (const breach of [
    "await fetch('https://x');",
    "import { request } from 'node:https';",
    "import {\n  createServer,\n  request as ask,\n} from 'node:http';",
    "import { type Socket, connect } from 'node:net';",
    "import net from 'node:net';",
    "import * as dns from 'node:dns/promises';",
  ])
    it(`is found: ${breach.replaceAll('\n', ' ')}`, () => {
      expect(connects(moduleOf('application/x.ts', breach))).to.equal(true);
    });
});
