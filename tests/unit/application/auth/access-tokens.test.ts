import { createPrivateKey, createPublicKey } from 'node:crypto';
import { expect } from 'chai';
import { type CryptoKey, importJWK, type JWTPayload, SignJWT } from 'jose';
import { Rs256TokenSigner } from '#src/adapters/outbound/tokens/rs256-key.js';
import { AccessTokens } from '#src/application/auth/access-tokens.js';
import type { TokenKey } from '#src/application/ports/tokens.js';
import type { AccessToken, SigningKey } from '#src/domain/access-token.js';
import { API_KEY_FRESH_MS, type ApiKey, validKey } from '#src/domain/api-key.js';
import { AppError, unavailable } from '#src/domain/errors.js';
import type { Versioned } from '#src/domain/record.js';
import { PublicUrl } from '#src/shared/public-url.js';
import { expectAppError } from '../../../support/expect-refusal.js';
import { FakeClock } from '../../../support/fakes.js';
import { type Attack, bearerAttacks } from '../../../support/forged-tokens.js';
import { type SigningPair, signed } from '../../../support/jws.js';

const ISSUER = 'https://localhost:8443';

describe('access tokens of this service', () => {
  const signing = new Rs256TokenSigner();
  let clock: FakeClock;
  let stored: SigningKey;
  let key: TokenKey;
  let secret: CryptoKey;
  let lookUps: number;
  let apiKey: Versioned<ApiKey> | undefined;
  before(async () => {
    stored = await signing.makeKey();
    key = await signing.open(stored);
    secret = (await importJWK(JSON.parse(stored.privateJwk), 'RS256')) as CryptoKey;
  });
  beforeEach(() => {
    clock = new FakeClock();
    lookUps = 0;
    const fields: ApiKey = { name: 'x', scopes: ['products:read'], digest: '' };
    apiKey = { id: 7, version: 1, createdAt: 0, updatedAt: 0, fields };
  });

  const verifier = (PUBLIC_URL = '') =>
    new AccessTokens({
      signingKeys: {
        current: async () => key,
        find: async (kid) => {
          lookUps++;
          return kid === key.kid ? key : undefined;
        },
      },
      apiKeys: {
        findValid: async (id, reason) => validKey(id === apiKey?.id ? apiKey : undefined, clock.now(), reason),
      },
      signer: signing,
      publicUrl: new PublicUrl({ PUBLIC_URL, PORT: 9_999 }),
      clock,
    });
  const verify = (token: string) => verifier().verify({ token });
  const seconds = () => clock.time / 1_000;
  const claims = (): JWTPayload => ({
    iss: ISSUER,
    aud: ISSUER,
    sub: '7',
    client_id: '7',
    scope: 'products:read users:write',
    iat: seconds(),
    exp: seconds() + 600,
    jti: 'x',
  });
  const forged = (changed: object, header: object = {}, by: CryptoKey | Uint8Array = secret) =>
    new SignJWT({ ...claims(), ...changed })
      .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: key.kid, ...header })
      .sign(by);
  const issued = (issuer = ISSUER) =>
    key.sign({ issuer, keyId: 7, scopes: ['products:read'], issuedAt: clock.time, expiresAt: clock.time + 600_000 });

  it('represent the API key of their client, with their own scopes', async () => {
    expect(await verify(await issued())).to.deep.equal({
      id: 'key:7',
      scopes: ['products:read'],
      expiresAt: clock.time + 660_000,
      freshMs: 2_000,
    });
    expect(await verify(await forged({}))).to.deep.equal({
      id: 'key:7',
      scopes: ['products:read', 'users:write'],
      expiresAt: clock.time + 660_000,
      freshMs: 2_000,
    });
    expect(await verify(await forged({}, { typ: 'application/at+jwt' }))).to.include({ id: 'key:7' });
  });

  it('expire, with a tolerance of 60 seconds for the clocks', async () => {
    const token = await issued();
    clock.time += 659_000;
    await verify(token);
    clock.time += 1_000;
    await expectAppError(verify(token), 'token_expired');
  });

  it('are refused more than 60 seconds before their time, and the message names the clocks', async () => {
    await verify(await forged({ iat: seconds() + 60, nbf: seconds() + 60 }));
    for (const claim of ['iat', 'nbf']) {
      const refused = verify(await forged({ [claim]: seconds() + 61 }));
      const { code, message } = await refused.then(
        () => new AppError('not_found', 'It was accepted.'),
        (error) => error,
      );
      expect([code, message]).to.deep.equal([
        'invalid_token',
        `The ${claim} of this access token is over 60 seconds in the future: compare the clocks of its issuer and this service.`,
      ]);
    }
  });

  it('withstand every attack on tokens of another issuer', async () => {
    clock.time = Date.now();
    const privateKey = createPrivateKey({ key: JSON.parse(stored.privateJwk), format: 'jwk' });
    const pair: SigningPair = { kid: key.kid, alg: 'RS256', privateKey, publicKey: createPublicKey(privateKey) };
    const claimsWith = (changes: object = {}) => ({ ...claims(), ...changes });
    const token = (changes: object = {}, header: object = {}, by = pair) => signed(claimsWith(changes), by, header);
    expect(await verify(token())).to.include({ id: 'key:7' });
    // Nobody else makes this service sign times and audiences; `scope` alone has scopes; b64: true changes nothing.
    const isOther = ({ name, authorization, token: sent }: Attack) =>
      authorization === `Bearer ${sent}` && !/^(?:exp|iat|nbf|aud|scp) |^alg "RS256"$|^crit \["b64"\]$/.test(name);
    const attacks = bearerAttacks({ pair, claims: claimsWith, token }).filter(isOther);
    expect(attacks.length).to.be.above(130);
    for (const { name, token: forgery } of attacks) {
      const outcome = await verify(forgery).then(
        () => 'accepted',
        ({ code }: AppError) => code,
      );
      expect(outcome, name).to.be.oneOf(['invalid_token', 'token_expired']);
    }
  });

  it('name this service as issuer and audience, and the key behind them as client', async () => {
    const both = (address: string) => ({ iss: address, aud: address });
    const other = both('https://localhost:8444');
    expect(await verify(await forged(other)), 'another port of this service').to.include({ id: 'key:7' });
    const absent = ['aud', 'exp', 'iat', 'jti', 'scope'].map((claim) => ({ [claim]: undefined }));
    const others = ['https://evil.example', 'https://localhost:8443/', 'https://localhost:8443.evil.example'].map(both);
    for (const changed of [
      ...[{ iss: other.iss }, { aud: other.aud }, ...others, ...absent, { exp: '9999999999' }, { nbf: 'now' }],
      ...[{ sub: '8' }, { sub: '07', client_id: '07' }, { sub: 'key:7', client_id: 'key:7' }],
    ])
      await expectAppError(verify(await forged(changed)), 'invalid_token').catch((error) => {
        throw new Error(`${JSON.stringify(changed)}: ${error.message}`);
      });
  });

  it('are rejected without a look-up of keys if another issuer made them', async () => {
    await expectAppError(verify(await issued('https://id.example.com')), 'invalid_token');
    await expectAppError(verify('nonsense'), 'invalid_token');
    expect(lookUps).to.equal(0);
  });

  it('must name PUBLIC_URL as their issuer if it is set', async () => {
    const named = verifier('https://api.example.com');
    expect(await named.verify({ token: await issued('https://api.example.com') })).to.include({ id: 'key:7' });
    await expectAppError(named.verify({ token: await issued() }), 'invalid_token');
  });

  it('end with the API key behind them', async () => {
    const token = await issued();
    expect((await verify(token)).freshMs).to.equal(API_KEY_FRESH_MS);
    const found = apiKey;
    apiKey = undefined;
    await expectAppError(verify(token), 'invalid_token');
    // Its own end does not matter: the tolerance is for clocks of issuers, and a key ends by the clock of the service.
    const expiresAt = clock.time + 1_500;
    if (found) apiKey = { ...found, fields: { ...found.fields, expiresAt } };
    expect((await verify(token)).expiresAt).to.equal(expiresAt);
    clock.time = expiresAt;
    await expectAppError(verify(token), 'token_expired');
  });

  it('are verified at each request if they administer keys', async () => {
    expect((await verify(await forged({ scope: 'keys:admin' }))).freshMs).to.equal(0);
  });

  it('are refused as unavailable while the keys cannot be read', async () => {
    const broken = new AccessTokens({
      signingKeys: { current: async () => key, find: () => Promise.reject(unavailable('down')) },
      apiKeys: { findValid: () => Promise.reject(unavailable('down')) },
      signer: signing,
      publicUrl: new PublicUrl({ PUBLIC_URL: '', PORT: 1 }),
      clock,
    });
    await expectAppError(broken.verify({ token: await issued() }), 'unavailable');
  });

  it('are signed with a key that no error message quotes', async () => {
    for (const privateJwk of ['secret', '{"kty":"oct","k":"secret"}', '{"kty":"RSA","d":"secret"}', 'null']) {
      const error: Error = await signing.open({ ...stored, privateJwk }).then(
        () => new Error('it was opened'),
        (reason) => reason,
      );
      expect(error.message).to.equal(`The signing key ${stored.kid} is not a valid RS256 key.`);
      expect(error).to.not.have.property('cause');
    }
    expect(JSON.stringify(key.publicJwk)).to.not.match(/"(d|p|q|dp|dq|qi)":/);
  });
});

describe('AccessTokens.issue', () => {
  const issue = async (now: number, expiresAt?: number) => {
    const signed: AccessToken[] = [];
    const key = { sign: async (claims: AccessToken) => `token ${signed.push(claims)}` };
    const issuer = new AccessTokens({
      signingKeys: { current: async () => key },
      publicUrl: { url: 'https://here' },
      clock: new FakeClock(now),
    } as never);
    const client = { keyId: 7, scopes: ['users:read'], ...(expiresAt !== undefined && { expiresAt }) };
    return { issued: await issuer.issue(client as never, ['users:read']), claims: signed[0] };
  };

  it('signs whole seconds, for ten minutes', async () => {
    expect(await issue(5_999)).to.deep.equal({
      issued: { token: 'token 1', lifetimeSeconds: 600 },
      claims: { issuer: 'https://here', keyId: 7, scopes: ['users:read'], issuedAt: 5_000, expiresAt: 605_000 },
    });
  });

  it('issues no token that outlives its key, nor one that has already expired', async () => {
    expect((await issue(5_000, 9_999)).issued.lifetimeSeconds).to.equal(4);
    expect((await issue(5_000, 6_000)).issued.lifetimeSeconds).to.equal(1);
    await expectAppError(issue(5_000, 5_999), 'token_expired');
    await expectAppError(issue(5_000, 1_000), 'token_expired');
  });
});
