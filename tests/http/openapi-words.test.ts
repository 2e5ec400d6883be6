import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { expectRefusal } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { cursorIn, linksOf } from '../support/links.js';
import { list } from '../support/list.js';

// Regression tests for mismatches between the document and the service that Schemathesis found.
describe('the OpenAPI document and the service', () => {
  const service = inProcessService();
  // biome-ignore lint/suspicious/noExplicitAny: a document of any shape
  let document: any;
  /** @returns whether the schema at this location of the document allows a value */
  const allows = (location: string, value: unknown): boolean => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, 'document');
    return ajv.validate({ $ref: `document#${location}` }, value);
  };
  const itemId = async () => (await service.post('/products', { name: 'Lamp' })).json.id;

  before(async () => {
    document = (await service.get('/openapi.json', { token: null })).json;
  });

  it('has patterns alone that languages read alike', () => {
    const patterns = JSON.stringify(document).match(/"pattern":"(?:[^"\\]|\\.)*"/g) ?? [];
    expect(patterns.length).to.be.greaterThan(20);
    const expressions = patterns.map((one) => JSON.parse(`{${one}}`).pattern as string);
    // Whole, so that a search and a comparison find the same, and without a class that depends on Unicode.
    const foreign = expressions.filter(
      (one) =>
        !/^\^.*\$$/s.test(one) ||
        /\\[upPdDwWbB]|\(\?(?!:)|\.(?=[*+])|\\x[89a-f]/.test(one.replaceAll('[\\s\\S]', '').replaceAll('\\.', '')),
    );
    expect(foreign).to.deep.equal([]);
  });

  it('checks the version for OPTIONS too', async () => {
    for (const version of ['99', '01', '']) {
      const attempt = service.request('OPTIONS', '/v1/products', { headers: { 'API-Version': version } });
      await expectRefusal(attempt, 'unsupported_version', version);
    }
  });

  it('has a largest id, beyond which OPTIONS is 404 too', async () => {
    const path = `/v1/products/${Number.MAX_SAFE_INTEGER + 1}`;
    expect((await service.request('OPTIONS', path)).status).to.equal(404);
    expect(document.components.parameters.Id.schema.maximum).to.equal(Number.MAX_SAFE_INTEGER);
  });

  it('has a pattern that allows real cursors and forbids an empty one', async () => {
    await itemId();
    await itemId();
    const page = await service.get('/v1/products?limit=1');
    const cursor = cursorIn(linksOf(page.headers['link'])['next']);
    const location = '/components/parameters/cursor/schema';
    expect([allows(location, cursor), allows(location, '')]).to.deep.equal([true, false]);
    expect((await service.get('/v1/products?cursor=')).json.code).to.equal('invalid_cursor');
  });

  const VALID = [...list`*  "3"  W/"3"  ""`, '"a", W/"b" ,\t"c"', '"\x80"'];
  for (const tags of [...VALID, ...list`3  "3  "3" "4"  *, "3"  "a b"`]) {
    const isValid = VALID.includes(tags);
    it(`${isValid ? 'allows' : 'forbids'} ${JSON.stringify(tags)} as If-Match, and so does the service`, async () => {
      const { status } = await service.patch(`/v1/products/${await itemId()}`, {}, { headers: { 'If-Match': tags } });
      expect(allows('/components/parameters/IfMatch/schema', tags)).to.equal(isValid);
      expect(status === 400).to.equal(!isValid);
    });
  }

  it('forbids a member named __proto__ in a JSON Patch operation, and so does the service', async () => {
    const withProto = JSON.parse('[{"op":"add","path":"/name","value":"x","__proto__":1}]');
    const other = [{ op: 'add', path: '/name', value: 'x', more: [{ proto: 1 }] }];
    const location = '/components/schemas/JsonPatch';
    expect([withProto, other].map((patch) => allows(location, patch))).to.deep.equal([false, true]);
    const headers = { 'Content-Type': 'application/json-patch+json' };
    const path = `/v1/products/${await itemId()}`;
    const responses = [withProto, other].map((patch) => service.patch(path, patch, { headers }));
    expect((await Promise.all(responses)).map(({ status }) => status)).to.deep.equal([400, 200]);
  });

  it('has OAuth errors for OPTIONS of the token endpoint too', async () => {
    const response = await service.request('OPTIONS', '/oauth/token', { headers: { 'API-Version': '2' } });
    expect([response.status, response.json.error]).to.deep.equal([400, 'invalid_request']);
  });

  it('allows unknown parameters at the token endpoint, and the service takes them once each', async () => {
    const location = '/components/schemas/TokenRequest';
    const form = { grant_type: 'client_credentials', colour: 'red' };
    expect(allows(location, form)).to.equal(true);
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const send = (body: string) => service.post('/oauth/token', body, { token: null, headers });
    const base = 'grant_type=client_credentials&colour=red';
    expect((await send(base)).json.error).to.equal('invalid_client');
    expect((await send(`${base}&colour=green`)).json.error).to.equal('invalid_request');
  });
});
