import { Readable } from 'node:stream';
import { expect } from 'chai';
import type { Context } from '#src/adapters/inbound/http/core/context.js';
import { middlewareHarness } from '../support/middleware-harness.js';

describe('koaListener', () => {
  const order: string[] = [];
  const service = middlewareHarness((_ctx, next) => {
    order.push('first');
    return next();
  });
  const respond = (write: (ctx: Context) => void, method = 'GET') => {
    service.handler = write;
    return service.request(method, '/');
  };
  const text = (ctx: Context) => {
    ctx.set('Content-Type', 'text/plain');
    ctx.body = 'é';
  };

  it('runs the middleware in order', async () => {
    order.length = 0;
    await respond((ctx) => {
      order.push('second');
      text(ctx);
    });
    expect(order).to.deep.equal(['first', 'second']);
  });

  it('sends a text, a buffer and a stream', async () => {
    for (const body of ['é', Buffer.from('é'), Readable.from([Buffer.from('é')], { objectMode: false })]) {
      const { status, text, headers } = await respond((ctx) => {
        ctx.set('Content-Type', 'text/plain');
        ctx.body = body;
      });
      expect([status, text, headers['content-type']]).to.deep.equal([200, 'é', 'text/plain']);
      expect(headers['content-length']).to.equal(body instanceof Readable ? undefined : '2');
    }
  });

  it('passes a large buffer on in slices, so that TLS does not hold it once more', async () => {
    const slices: number[] = [];
    const body = Buffer.alloc(500_000, 'x');
    const { text } = await respond((ctx) => {
      const write = ctx.res.write.bind(ctx.res);
      ctx.res.write = (chunk: Buffer) => {
        slices.push(chunk.length);
        return write(chunk);
      };
      ctx.set('Content-Type', 'text/plain');
      ctx.body = body;
    });
    expect(text).to.have.length(body.length);
    expect(slices).to.deep.equal([131_072, 131_072, 131_072, 106_784]);
  });

  it('does not read a stream for HEAD, and destroys it', async () => {
    let wasRead = false;
    const body = new Readable({
      read() {
        wasRead = true;
      },
    });
    const { status, text: sent } = await respond((ctx) => (ctx.body = body), 'HEAD');
    expect([status, sent, wasRead, body.destroyed]).to.deep.equal([200, '', false, true]);
  });

  for (const status of [204, 304])
    it(`sends ${status} without a body and its headers, for GET and HEAD`, async () => {
      for (const method of ['GET', 'HEAD']) {
        const response = await respond((ctx) => {
          text(ctx);
          ctx.status = status;
        }, method);
        expect([response.status, response.text]).to.deep.equal([status, '']);
        expect(response.headers).not.to.have.any.keys('content-type', 'content-length', 'transfer-encoding');
      }
    });

  it('sends an empty body with its length', async () => {
    const {
      status,
      text: body,
      headers,
    } = await respond((ctx) => {
      text(ctx);
      ctx.body = null;
      ctx.status = 201;
    });
    expect([status, body, headers['content-length']]).to.deep.equal([201, '', '0']);
    expect(headers).not.to.have.property('content-type');
  });

  it('responds with 500 to an error that no middleware handles, whether thrown or rejected', async () => {
    const fail = () => {
      throw new Error('secret');
    };
    for (const handler of [fail, async () => fail()]) {
      const { status, text: body } = await respond(handler);
      expect([status, body]).to.deep.equal([500, 'Internal Server Error']);
    }
  });

  it('cuts the connection if a stream fails', async () => {
    const broken = respond((ctx) => {
      ctx.set('Content-Type', 'text/plain');
      ctx.body = Readable.from(
        (async function* () {
          yield 'begin';
          throw new Error('broken');
        })(),
      );
    });
    const error = await broken.then(() => undefined).catch((thrown: Error) => thrown);
    expect(error).to.be.an('error');
  });
});
