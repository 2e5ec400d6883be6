import { expect } from 'chai';
import type { Context } from '#src/adapters/inbound/http/context.js';
import { ImportEndpoint } from '#src/adapters/inbound/http/import-endpoint.js';
import { codeAnswers } from '#src/adapters/inbound/http/middleware/code-answers.js';
import { PRODUCTS } from '#src/adapters/inbound/http/resources/products.js';
import type { Creation } from '#src/application/record-creation.js';
import type { Product } from '#src/domain/product.js';
import { koaService } from '../support/koa-service.js';
import { NotingJournal } from '../support/list-service.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** In which step the client goes away, and after how many lines: more than 256 are worked on in two steps. */
const LEAVINGS = [
  ['reservation', 1],
  ['first work', 1],
  ['first work', 300],
  ['second work', 300],
] as const;

describe('an import that breaks off', () => {
  const folder = temporaryFolder();
  const service = koaService(codeAnswers);
  let step = async (_name: string): Promise<void> => {};
  let works = 0;

  const useCases = {
    reserveStream: () => step('reservation'),
    createAll: async (creations: readonly Creation<Product>[]) => {
      await step(works++ === 0 ? 'first work' : 'second work');
      return creations.map(({ draft }, at) => {
        const record = {
          id: at + 1,
          version: 1,
          createdAt: 0,
          updatedAt: 0,
          fields: draft.fields as Product,
        };
        return { record, isReplay: false };
      });
    },
  };
  const policy = { bodyLimitBytes: 1_000, spoolFolder: folder, journal: new NotingJournal() };
  const operation = new ImportEndpoint(PRODUCTS, useCases, policy).operation();

  const answering = (arrived: (ctx: Context) => void) => (ctx: Context) => {
    works = 0;
    ctx.state.principal = { id: 'key:1', scopes: [] };
    arrived(ctx);
    return operation.handle(ctx, {} as never);
  };
  const headers = { 'Content-Type': 'application/x-ndjson', 'Idempotency-Key': 'k' };
  const line = '{"name":"x"}\n';

  for (const coding of ['identity', 'br']) {
    it(`harms nobody, whatever step its client goes away in, with ${coding}`, async () => {
      for (const [last, lines] of LEAVINGS) {
        const socket = await service.client.connect();
        const reached = new Promise<void>((resolve) => {
          service.answer = answering((ctx) => {
            const closed = new Promise((resolve) => ctx.req.once('close', resolve));
            step = async (name) => {
              if (name !== last) return;
              socket.destroy();
              await closed;
              resolve();
            };
          });
        });
        const head = Object.entries({
          ...headers,
          Host: 'x',
          'Accept-Encoding': coding,
          'Content-Length': '9999',
        });
        socket.write(
          `POST / HTTP/1.1\r\n${head.map((field) => `${field.join(': ')}\r\n`).join('')}\r\n${line.repeat(lines)}`,
        );
        await reached;
        service.answer = answering(() => {
          step = async () => {};
        });
        const { status, text } = await service.client.post('/', line, { headers });
        expect([status, text]).to.deep.equal([200, '{"line":1,"status":201,"id":1}\n']);
      }
    });
  }

  for (const failing of ['first work', 'second work']) {
    it(`is cut, and not left to its client, where its ${failing} fails`, async () => {
      service.answer = answering(() => {
        step = async (name) => {
          if (name === failing) throw new Error('a defect');
        };
      });
      const refusal = await service.client
        .post('/', line.repeat(10_000), { headers })
        .catch((error) => error);
      expect(refusal).to.be.an('error');
    });
  }
});
