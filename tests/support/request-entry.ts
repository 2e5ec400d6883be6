import type { RequestEntry } from '#src/application/ports/observer.js';

/** A request as the log receives it. */
export const REQUEST_ENTRY: RequestEntry = {
  requestId: 'b7f1f8c2-7f4e-4d0a-9e57-1f2d3c4b5a69',
  trace: { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' },
  method: 'GET',
  route: '/v1/products/{id}',
  version: 1,
  path: '/v1/products/7',
  status: 200,
  complete: true,
  durationMs: 1.234,
  waitedMs: undefined,
  responseBytes: 567,
  principal: 'key:7',
  errorCode: undefined,
  isDeprecated: false,
  replays: 0,
};
