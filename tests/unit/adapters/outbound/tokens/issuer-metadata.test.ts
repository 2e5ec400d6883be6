import type { IncomingMessage, RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { fetchKeySet, jwksUri, metadataUrls } from '#src/adapters/outbound/tokens/issuer-keys.js';
import { TestIssuer } from '../../../../support/test-issuer.js';

describe('the metadata and keys of an issuer', () => {
  let issuer: TestIssuer;

  beforeEach(async () => (issuer = await new TestIssuer('/tenant').start()));
  afterEach(() => issuer.stop());

  const keys = async () => ((await fetchKeySet(issuer.issuer)) as { keys: { kid: string }[] }).keys;
  const refusal = async (): Promise<Error> =>
    fetchKeySet(issuer.issuer).then(
      () => Promise.reject(new Error('The metadata was accepted.')),
      (error: Error) => error,
    );
  const metadata = () => Object.values(issuer.documents())[0] as Record<string, unknown>;
  const instead = (listeners: Record<string, RequestListener>) => {
    issuer.override = (request, response) => {
      const listener = listeners[request.url ?? ''];
      if (listener) return listener(request, response);
      const document = issuer.documents()[request.url ?? ''];
      response.writeHead(document ? 200 : 404).end(JSON.stringify(document));
    };
  };
  const [OAUTH, OPENID] = [
    '/.well-known/oauth-authorization-server/tenant',
    '/tenant/.well-known/openid-configuration',
  ];

  it('have the URLs of RFC 8414 and OpenID Connect', () => {
    expect(metadataUrls('https://a.example')).to.deep.equal([
      'https://a.example/.well-known/oauth-authorization-server',
      'https://a.example/.well-known/openid-configuration',
    ]);
    expect(metadataUrls('https://a.example/')).to.deep.equal(metadataUrls('https://a.example'));
    for (const issuer of ['https://a.example:8/realms/x', 'https://a.example:8/realms/x/'])
      expect(metadataUrls(issuer)).to.deep.equal([
        'https://a.example:8/.well-known/oauth-authorization-server/realms/x',
        'https://a.example:8/realms/x/.well-known/openid-configuration',
      ]);
  });

  it('are fetched from either URL', async () => {
    expect((await keys())[0]?.kid).to.equal('one');
    expect(issuer.requestPaths).to.deep.equal([OAUTH, '/keys']);
    const pages = [404, 200, 500].map(
      (status): RequestListener =>
        (_, response) =>
          response.writeHead(status).end('<html>'),
    );
    for (const first of [...pages, ({ socket }: IncomingMessage) => void socket.destroy()]) {
      instead({ [OAUTH]: first, [OPENID]: (_, response) => response.end(JSON.stringify(metadata())) });
      expect((await keys())[0]?.kid, first.toString()).to.equal('one');
    }
  });

  it('must name the issuer exactly', async () => {
    for (const wrong of [`${issuer.issuer}/`, issuer.issuer.toUpperCase(), [issuer.issuer], undefined, null]) {
      const document = JSON.stringify({ ...metadata(), issuer: wrong });
      instead({ [OAUTH]: (_, response) => response.end(document) });
      expect((await refusal()).message).to.equal('the issuer publishes no metadata that name it');
    }
    expect(issuer.requestPaths).to.not.include('/keys');
  });

  it('are rejected if the jwks_uri is not safe', async () => {
    const unsafe = ['http://a.example/keys', 'file:///etc/passwd', 'data:,{}', '/keys', '', undefined, 7, {}];
    for (const jwks_uri of [...unsafe, 'http://127.0.0.1.a.example/', 'http://localhost@a.example/']) {
      const document = JSON.stringify({ ...metadata(), jwks_uri });
      instead({ [OAUTH]: (_, response) => response.end(document) });
      const { message } = await refusal();
      expect(message, String(jwks_uri)).to.match(/^(the jwks_uri of the issuer is not safe|Invalid URL)$/);
    }
  });

  it('are rejected if an HTTPS issuer has a jwks_uri in plain HTTP', () => {
    const [plain, secure] = ['http://localhost:8080/keys', 'https://keys.example/keys'];
    for (const issuer of ['http://localhost:8080', 'https://a.example'])
      expect(jwksUri(secure, issuer)).to.equal(secure);
    expect(jwksUri(plain, 'http://localhost:8080')).to.equal(plain);
    expect(() => jwksUri(plain, 'https://a.example')).to.throw('not safe');
  });

  it('are fetched without following redirects', async () => {
    const elsewhere = await new TestIssuer().start();
    for (const path of [OAUTH, OPENID, '/keys']) {
      const Location = `${elsewhere.issuer}/keys`;
      instead({ [path]: (_, response) => response.writeHead(302, { Location }).end() });
      if (path !== OPENID) await refusal();
    }
    await elsewhere.stop();
    expect(elsewhere.requestPaths).to.deep.equal([]);
  });

  it('are rejected if they are too large, before or after decompression', async () => {
    const large = JSON.stringify({ ...metadata(), filling: 'x'.repeat(300_000) });
    const small = JSON.stringify({ ...metadata(), filling: 'x'.repeat(200_000) });
    instead({ [OAUTH]: (_, response) => response.end(small) });
    expect(await keys()).to.have.length(1);
    instead({ [OAUTH]: (_, response) => response.end(large) });
    await refusal();
    const coded = { 'Content-Encoding': 'gzip' };
    instead({ [OAUTH]: (_, response) => response.writeHead(200, coded).end(gzipSync(large)) });
    await refusal();
    instead({ '/keys': (_, response) => response.end(large) });
    await refusal();
  });

  it('time out if the response never ends', async () => {
    let isGone = false;
    instead({
      [OAUTH]: (_, response) => {
        response.on('close', () => (isGone = true));
        const drip = setInterval(() => response.write(' '), 50);
        response.on('close', () => clearInterval(drip));
      },
    });
    expect((await refusal()).name).to.equal('TimeoutError');
    while (!isGone) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(issuer.requestPaths, 'the second URL is not tried').to.deep.equal([OAUTH]);
  });
});
