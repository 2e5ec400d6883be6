import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import fc from 'fast-check';
import { CODE_SAMPLES } from '#packages/pages/docs/code-samples.js';
import type { ApiRequest } from '#packages/pages/docs/request.js';
import { CHARACTER } from '../../../../support/unicode-texts.js';

const URL = 'https://localhost:8443/v1/products';
const HOSTILE = `it's "$HOME" \`id\` $(id) \${id} \\ \\u0041 !x %s ''' """ */ //\n@file ; é 😀`;
const HIDDEN = '\ufeff\u202e\u2028\u0000\r\n\t\u007f';

const PLAIN: ApiRequest = { method: 'GET', url: URL, headers: [], takesKey: false };
const FULL: ApiRequest = {
  method: 'PATCH',
  url: `${URL}/7?name=it's`,
  headers: [['If-Match', HOSTILE.replace('\n', '')]],
  body: HOSTILE,
  takesKey: true,
};

function sample(language: string, request: ApiRequest, usesOwnCa = true): string {
  return CODE_SAMPLES[language]?.(request, usesOwnCa) ?? '';
}

/** The arguments that a shell passes to curl. */
function argumentsOf(request: ApiRequest, usesOwnCa = false): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${sample('curl', request, usesOwnCa)}\n`;
  const out = execFileSync('sh', ['-c', script], { encoding: 'utf8', env: { API_KEY: 'pcs_x' } });
  return out.split('\0').slice(0, -1);
}

/** The arguments that the JavaScript sample passes to fetch. */
async function fetchedBy(request: ApiRequest): Promise<unknown> {
  const calls: unknown[] = [];
  const fetch = async (...all: unknown[]) => {
    calls.push(all);
    return { text: async () => '' };
  };
  const run = new Function('fetch', 'console', 'process', `return (async () => {${sample('JavaScript', request)}})()`);
  await run(fetch, { log: () => {} }, { env: { API_KEY: 'pcs_x' } });
  return calls;
}

describe('the code samples', () => {
  const texts = fc.string({ unit: CHARACTER, maxLength: 40 });

  it('are for curl, JavaScript, Python and Go', () => {
    expect(Object.keys(CODE_SAMPLES)).to.deep.equal(['curl', 'JavaScript', 'Python', 'Go']);
  });

  it('take the key from the environment, only if the operation takes one', () => {
    for (const language of Object.keys(CODE_SAMPLES)) {
      expect(sample(language, { ...PLAIN, takesKey: true }), language).to.include('API_KEY');
      expect(sample(language, PLAIN), language).to.not.include('API_KEY');
    }
  });

  it('trust data/tls/ca.pem, only if the service has its own certificate', () => {
    for (const language of Object.keys(CODE_SAMPLES)) {
      expect(sample(language, PLAIN, true), language).to.include('data/tls/ca.pem');
      expect(sample(language, PLAIN, false), language).to.not.include('data/tls');
    }
  });

  it('have no character that a compiler rejects, or that hides what the code does', () => {
    const request = { ...FULL, body: HIDDEN, headers: [['X-Text', HIDDEN]] as const };
    for (const language of ['JavaScript', 'Python', 'Go'])
      expect(sample(language, request), language).to.not.match(/[\0\r\x7f\u2028\u202e\ufeff]/);
  });

  it('show a body with lines as lines', () => {
    const body = '{\n  "name": "Lamp"\n}';
    for (const language of Object.keys(CODE_SAMPLES))
      expect(sample(language, { ...FULL, body }), language).to.include(body);
  });

  describe('for curl', () => {
    it('survive the shell unchanged', () => {
      expect(argumentsOf(FULL, true)).to.deep.equal([
        ...['--include', '--write-out', '\\n', '--cacert', 'data/tls/ca.pem', '--request', 'PATCH'],
        ...['--header', 'Authorization: Bearer pcs_x', '--header', `If-Match: ${FULL.headers[0]?.[1]}`],
        ...['--data-raw', HOSTILE, FULL.url],
      ]);
    });

    it('name the method only if curl would use another one', () => {
      const own = (request: ApiRequest) => argumentsOf(request).slice(3);
      expect(own(PLAIN)).to.deep.equal([URL]);
      expect(own({ ...PLAIN, method: 'HEAD' })).to.deep.equal(['--head', URL]);
      expect(own({ ...PLAIN, method: 'POST', body: '{}' })).to.deep.equal(['--data-raw', '{}', URL]);
      expect(own({ ...PLAIN, method: 'POST' })).to.deep.equal(['--request', 'POST', URL]);
      expect(own({ ...PLAIN, body: '' }).slice(0, 2)).to.deep.equal(['--request', 'GET']);
    });
  });

  describe('for JavaScript', () => {
    it('pass every text to fetch unchanged', async () => {
      await fc.assert(
        fc.asyncProperty(texts, texts, fc.constantFrom('', '\n'), async (header, text, end) => {
          const body = `${text}${end}${HOSTILE}`;
          const request = { ...FULL, body, headers: [['X-Text', header]] as const };
          expect(await fetchedBy(request)).to.deep.equal([
            [FULL.url, { method: 'PATCH', headers: { Authorization: 'Bearer pcs_x', 'X-Text': header }, body }],
          ]);
        }),
      );
    });
  });

  describe('for Python and Go', () => {
    /** The literal that a sample has for a text, without the language's own quotation marks. */
    const literal = (language: string, body: string) => {
      const [, found] =
        /(?:data=|NewReader\()([\s\S]*?)(?:\.encode\(\),\n|\)\)\n)/.exec(
          sample(language, { ...FULL, body, headers: [] }),
        ) ?? [];
      return `${found}`;
    };

    it('write a text in one line as a JSON string, whose escape sequences they share', () => {
      fc.assert(
        fc.property(texts, (text) => {
          const body = text.replaceAll('\n', '');
          for (const language of ['Python', 'Go']) expect(JSON.parse(literal(language, body)), language).to.equal(body);
        }),
      );
    });

    it('escape what would end a literal of several lines', () => {
      expect(literal('Python', `a\n'''\\`)).to.equal(`'''a\n\\'\\'\\'\\\\'''`);
      expect(literal('Go', 'a\n"\\')).to.equal('`a\n"\\`');
      expect(literal('Go', 'a\n`')).to.equal('"a\\n`"');
      expect(literal('JavaScript', 'a')).to.equal('undefined');
    });
  });
});
