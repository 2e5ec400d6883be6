import { expect } from 'chai';
import { ChildProcessService } from '../support/child-process-service.js';
import { HttpClient } from '../support/http-client.js';
import { FIRST_KEY } from '../support/in-process-service.js';
import { OtlpReceiver } from '../support/otlp-receiver.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { logged } from '../support/workers.js';

const TEMPLATE = '/v1/users/email/{email}';

describe('an e-mail address in a path', () => {
  const folder = temporaryFolder();
  const receiver = new OtlpReceiver();
  let service: ChildProcessService;
  before(async () => {
    service = new ChildProcessService(folder, {
      BOOTSTRAP_API_KEY: FIRST_KEY,
      LOG_LEVEL: 'trace',
      OTEL_EXPORTER_OTLP_ENDPOINT: await receiver.start(),
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    });
  });
  after(async () => {
    service.kill('SIGKILL');
    await service.exit;
    await receiver.stop();
  });

  it('is in no line of the log, no span and no metric, whatever the outcome', async () => {
    const client = await service.started(FIRST_KEY);
    const path = '/v1/users/email/private.person%2B1@example.com';
    const statuses: number[] = [];
    for (const [method, target, options] of [
      ['PUT', path, { body: { name: 'Ann' } }],
      ['PUT', path.slice(3), { body: { name: 'Ann', email: 'private.other@example.com' } }],
      ['GET', path, {}],
      ['HEAD', path, {}],
      ['GET', `${path}?fields=private.person`, {}],
      ['GET', path, { token: null }],
      ['GET', path, { token: 'pcs_wrong' }],
      ['POST', path, { body: {} }],
      ['OPTIONS', path, { token: null }],
      ['PATCH', path, { body: '{"private.person":' }],
      ['PATCH', path, { body: {}, headers: { 'If-Match': '"9"' } }],
      ['DELETE', path, {}],
      ['DELETE', path, {}],
      ['GET', `${path}%20`, {}],
      ['GET', `${path}/private.person`, {}],
      ['GET', `/v1/users/email/private.person`, {}],
    ] as const)
      statuses.push((await client.request(method, target, options)).status);
    expect(statuses).to.deep.equal([201, 400, 200, 200, 400, 401, 401, 405, 204, 400, 412, 204, ...Array(4).fill(404)]);
    const management = new HttpClient(await service.managementPort(), undefined, '');
    const { text: metrics } = await management.get('/metrics', { token: null });
    management.close();
    client.close();
    await until('every request is logged', () => logged(service, 'request').length === statuses.length);
    expect(await service.stop()).to.deep.equal({ code: 0, signal: null });

    const known = statuses.length - 3;
    const unknown = ['unknown /v1/users/email/*', 'unknown /v1/users/email/*/*', 'unknown /v1/users/email/*'];
    const routes = logged(service, 'request').map(({ route, path }) => `${route} ${path}`);
    expect(routes).to.deep.equal([...Array(known).fill(`${TEMPLATE} ${TEMPLATE}`), ...unknown]);
    const served = receiver.spans.filter(({ kind }) => kind === 2);
    expect(served.filter(({ values }) => values['url.path'] === TEMPLATE)).to.have.length(known);
    expect(served.filter(({ name }) => name.endsWith(` ${TEMPLATE}`))).to.have.length(known);
    const spans = Buffer.concat(receiver.requests.map(({ body }) => body)).toString();
    for (const [what, text] of Object.entries({ log: service.log, metrics, spans }))
      expect(text, what).to.not.match(/private|example\.com/i);
  });
});
