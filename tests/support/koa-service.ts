import type { Server } from 'node:http';
import Koa from 'koa';
import type { Middleware, RequestState } from '#src/adapters/inbound/http/context.js';
import { createPlainServer, type ServerTimeouts } from '#src/adapters/inbound/http/server/server.js';
import { listen } from '#src/composition/listen.js';
import { HttpClient } from './http-client.js';

export interface KoaService {
  readonly client: HttpClient;
  /** Answers, behind the middleware under test. */
  answer: Middleware;
}

/** One middleware over plain HTTP, before whatever a test has it answer; for the tests of one `describe`. */
export function koaService(middleware: Middleware, timeouts?: ServerTimeouts): KoaService {
  const service: { client?: HttpClient; answer: Middleware } = { answer: () => {} };
  let server: Server;
  before(async () => {
    const app = new Koa<RequestState>();
    app.silent = true;
    app.use(middleware).use((ctx, next) => service.answer(ctx, next));
    server = createPlainServer(app.callback(), timeouts && { timeouts });
    service.client = new HttpClient(await listen(server, '127.0.0.1', 0), undefined, 'none');
  });
  after(() => {
    service.client?.close();
    server.close();
    server.closeAllConnections();
  });
  return service as KoaService;
}
