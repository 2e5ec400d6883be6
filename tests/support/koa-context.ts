import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import Koa from 'koa';
import type { Context, RequestState } from '#src/adapters/inbound/http/core/context.js';

/** The context of a request. @param values of the header, one for each time it is sent */
export function contextWith(name: string, ...values: string[]): Context {
  const request = new IncomingMessage(new Socket());
  request.rawHeaders = values.flatMap((value) => [name, value]);
  if (values.length > 0) {
    request.headers[name.toLowerCase()] = values.join(', ');
    request.headersDistinct[name.toLowerCase()] = values;
  }
  return new Koa<RequestState>().createContext(request, new ServerResponse(request));
}
