import { readFileSync } from 'node:fs';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type Example, examplesIn } from '../support/document-examples.js';
import type { HttpResponse } from '../support/http-client.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { jsonLines } from '../support/line-stream.js';
import { OpenText } from '../support/open-text.js';

function bodyOf({ headers, bytes }: HttpResponse): string {
  const coding = headers['content-encoding'];
  if (coding === 'gzip') return gunzipSync(bytes).toString();
  return (coding === 'br' ? brotliDecompressSync(bytes) : bytes).toString();
}

/** @returns JSON as its value, NDJSON as a list of values, CSV as a list of lines, any other body unchanged */
function parsed(body: string, type: string): unknown {
  if (body === '') return body;
  // The body in the document has no last line end.
  if (type === 'application/x-ndjson') return jsonLines(`${body.trimEnd()}\n`);
  if (type.startsWith('text/csv')) return body.trimEnd().split(/\r?\n/);
  return type.endsWith('json') ? JSON.parse(body) : body;
}

function expectResponse({ response: expected }: Example, response: HttpResponse, open: OpenText): void {
  const type = String(response.headers['content-type']);
  const body = bodyOf(response);
  expect(response.status, body).to.equal(expected.status);
  for (const [name, value] of Object.entries(expected.headers)) {
    const actual = response.headers[name.toLowerCase()];
    expect(actual, name).to.equal(open.closed(value, actual));
  }
  const actual = parsed(body, type);
  expect(actual, 'the body').to.deep.equal(open.closed(parsed(expected.body, type), actual));
}

/** The bytes of a request without a body, several times. The service closes the connection after the last response. */
function pipelined({ method, path, headers }: Example, open: OpenText, times: number): string {
  const fields = Object.entries(headers).map(([name, text]) => `${name}: ${open.filled(text)}\r\n`);
  const head = `${method} ${open.filled(path)} HTTP/1.1\r\nHost: localhost\r\n${fields.join('')}`;
  return `${`${head}\r\n`.repeat(times - 1)}${head}Connection: close\r\n\r\n`;
}

/** Plays the examples of a document, in their order, with a service of its own. @returns the text of the document */
function play(document: string, environment: Record<string, string>): string {
  const text = readFileSync(document, 'utf8');
  const service = inProcessService({
    PUBLIC_URL: 'https://catalogue.example',
    CORS_ORIGINS: 'https://shop.example',
    ...environment,
  });
  const open = new OpenText({ KEY: FIRST_KEY });

  for (const example of examplesIn(text)) {
    const { line, method, path, headers, body, times } = example;
    it(`shows the response that the service sends: line ${line}, ${method} ${path}`, async () => {
      const options = {
        token: null,
        headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, open.filled(text)])),
        body: body === undefined ? undefined : open.filled(body),
      };
      // The service saves usage every few seconds.
      await service.application.usageCounter.save();
      if (times > 1) await service.raw(pipelined(example, open, times - 1));
      expectResponse(example, await service.request(method, open.filled(path), options), open);
    });
  }
  return text;
}

describe('docs/reference/api.md', () => {
  const text = play('docs/reference/api.md', { RATE_LIMIT_REQUESTS: '600', WEBHOOK_NETWORKS: '192.0.2.7' });

  it('has an HTTP example in every section', () => {
    const [, ...sections] = text.split(/^## /m);
    expect(sections.length).to.be.greaterThan(10);
    expect(sections.filter((section) => !section.includes('\n```http')).map(headingOf)).to.deep.equal([]);
  });
});

describe('docs/how-to/shop-page.md', () => {
  play('docs/how-to/shop-page.md', { PUBLIC_READ: 'products' });
});

function headingOf(section: string): string {
  return section.split('\n', 1)[0] ?? '';
}
