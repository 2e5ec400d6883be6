import { expect } from 'chai';
import { readJsonBody } from '#src/adapters/inbound/http/body/json-body.js';
import { middlewareHarness } from '../../../../../support/middleware-harness.js';
import { until } from '../../../../../support/until.js';

describe('readJsonBody', () => {
  for (const sent of ['{"a"', '{"a": 1}'])
    describe(`if the client disconnects after ${sent}, before the body is read`, () => {
      let hasBegun = false;
      let outcome: unknown;
      const read = readJsonBody(1_000);
      const harness = middlewareHarness(async (ctx, next) => {
        hasBegun = true;
        await new Promise((resolve) => ctx.req.once('close', resolve));
        outcome = await Promise.resolve(read(ctx, next)).catch((error) => error.code ?? error);
      });

      it('is no defect of the service', async () => {
        const socket = await harness.client.connect();
        socket.write(
          `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n${sent}`,
        );
        await until('the request has begun', () => hasBegun);
        socket.destroy();
        await until('the body is read', () => outcome !== undefined);
        expect(outcome).to.equal('request_timeout');
      });
    });
});
