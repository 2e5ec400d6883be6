import { createHmac } from 'node:crypto';
import { encoded, makePair, publicJwk, type SigningPair, signed } from './jws.js';

/** What an attacker may have: public keys, and tokens with any claims and headers that the issuer signed. */
interface AttackedIssuer {
  readonly pair: SigningPair;
  token(claims?: object, header?: object, pair?: SigningPair): string;
  claims(changes?: object): Record<string, unknown>;
}

export interface Attack {
  readonly name: string;
  /** The secret part of the attack, which no log may contain. */
  readonly token: string;
  /** The value of `Authorization`, or the values of several such fields. Absent: no such field. */
  readonly authorization?: string | readonly string[];
  /** The query, with its `?`. */
  readonly query?: string;
  readonly body?: string;
  readonly status: number;
  readonly code: string;
}

type Named = Readonly<Record<string, string>>;

/** Returns all attacks. The service must reject each with its status and code, for any request. */
export function bearerAttacks(issuer: AttackedIssuer): Attack[] {
  const tokens = {
    ...withoutKeyPair(issuer),
    ...withForeignKey(issuer),
    ...withWrongHeader(issuer),
    ...withWrongClaims(issuer),
    ...misspelled(issuer),
  };
  const refused = { status: 401, code: 'invalid_token' } as const;
  const seconds = Math.floor(Date.now() / 1_000);
  return [
    ...Object.entries(tokens).map(([name, token]) => ({ ...ofToken(name, token), ...refused })),
    {
      ...ofToken('an expired token', issuer.token({ iat: seconds - 600, exp: seconds - 300 })),
      ...refused,
      code: 'token_expired',
    },
    { ...ofToken('an expired token for another audience', issuer.token({ exp: seconds - 300, aud: 'x' })), ...refused },
    ...elsewhere(issuer),
  ];
}

function ofToken(name: string, token: string) {
  return { name, token, authorization: `Bearer ${token}` };
}

/** Without a signature, or with one that needs only the public key. */
function withoutKeyPair({ pair, claims }: AttackedIssuer): Named {
  const { kid, publicKey } = pair;
  const unsigned = (alg: unknown, signature = '') =>
    `${encoded({ alg, kid, typ: 'at+jwt' })}.${encoded(claims())}.${signature}`;
  const hmac = (secret: string | Buffer) => {
    const input = `${encoded({ alg: 'HS256', kid, typ: 'at+jwt' })}.${encoded(claims())}`;
    return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
  };
  const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  return {
    ...Object.fromEntries(
      ['none', 'None', 'NONE', 'nOnE', 'none ', '', null, ['none'], 0].flatMap((alg) => [
        [`alg ${JSON.stringify(alg)} without a signature`, unsigned(alg)],
        [`alg ${JSON.stringify(alg)} with a signature`, unsigned(alg, encoded('x'.repeat(64)))],
      ]),
    ),
    'no alg': unsigned(undefined, encoded('x'.repeat(64))),
    'no signature under the right alg': unsigned(pair.alg),
    'ECDSA with r = s = 0': unsigned('ES256', Buffer.alloc(64).toString('base64url')),
    'HS256 with the public key as PEM': hmac(pem),
    'HS256 with the public key as PEM without its last line feed': hmac(pem.trim()),
    'HS256 with the public key as DER': hmac(publicKey.export({ format: 'der', type: 'spki' })),
    'HS256 with the public key as JWK': hmac(JSON.stringify(publicJwk(pair))),
    'HS256 with nothing': hmac(''),
  };
}

/** With a valid signature of another key. */
function withForeignKey({ token, pair }: AttackedIssuer): Named {
  const own = makePair(pair.kid, pair.alg);
  const jwk = publicJwk(own);
  const url = 'https://attacker.example/keys';
  const der = own.publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  return {
    'another key with the same kid': token({}, {}, own),
    'a key of another algorithm': token({}, {}, makePair(pair.kid, 'RS256')),
    jku: token({}, { jku: url }, own),
    x5u: token({}, { x5u: url }, own),
    jwk: token({}, { jwk }, own),
    x5c: token({}, { x5c: [der] }, own),
    'jwk with another kid': token({}, { jwk, kid: 'mine' }, own),
    'no kid': token({}, { kid: undefined }, own),
  };
}

/** Signed by the issuer's key, with a wrong header. */
function withWrongHeader({ token, pair }: AttackedIssuer): Named {
  const kids = ['../../../../dev/null', "x' UNION SELECT 'key", '', 'constructor', '__proto__', 'x\u0000'];
  const others = [7, null, true, [pair.kid], { kid: pair.kid }, undefined];
  const types = ['JWT', 'jwt', 'id_token+jwt', 'at+jwt+x', 'application/jwt', 'text/at+jwt', '', 1, ['at+jwt']];
  return {
    ...named('kid', [...kids, ...others], (kid) => token({}, { kid })),
    ...named('typ', [...types, null, undefined], (typ) => token({}, { typ })),
    ...named('crit', [['x'], ['exp'], ['b64'], ['alg'], [], 'x', null, [1]], (crit) =>
      token({}, { crit, x: 1, b64: true }),
    ),
    'b64: false, and crit': token({}, { b64: false, crit: ['b64'] }),
    ...named('alg', ['ES384', 'RS256', 'es256', 'HS256', 'ES256K'], (alg) => token({}, { alg })),
  };
}

/** Signed by the issuer's key, with claims that are not those of an access token for this service. */
function withWrongClaims({ token, claims, pair }: AttackedIssuer): Named {
  const now = Math.floor(Date.now() / 1_000);
  const { iss, aud } = claims();
  const odd: unknown[] = [undefined, null, '', 7, true, {}, [], ['shop'], { toString: 'shop' }, 'a\u0000b'];
  const times: unknown[] = [null, '', `${now + 300}`, [now + 300], {}, true, -1];
  return {
    ...named('iss', [undefined, null, '', [iss], `${iss}/`, `${iss}?`, 'https://attacker.example'], (value) =>
      token({ iss: value }),
    ),
    ...named('aud', [undefined, null, '', 7, {}, [], [[aud]], `${aud}/`, ['x'], [aud, 7]], (value) =>
      token({ aud: value }),
    ),
    ...named('sub', odd, (sub) => token({ sub })),
    ...named('client_id', odd, (client_id) => token({ client_id })),
    ...named('client_id with azp', odd.slice(1), (client_id) => token({ client_id, azp: 'shop' })),
    ...named('azp', odd, (azp) => token({ client_id: undefined, azp })),
    ...named('exp', [undefined, ...times], (exp) => token({ exp })),
    ...named('iat', [undefined, now + 600, 9e15, ...times], (iat) => token({ iat })),
    ...named('nbf', [now + 600, 9e15, ...times], (nbf) => token({ nbf })),
    ...named('scope', [null, 7, {}, ['products:read']], (scope) => token({ scope })),
    ...named('scp', [null, 7, {}, [['products:read']], ['products:read', 7]], (scp) => token({ scp })),
    'exp beyond the range of numbers': signed(JSON.stringify(claims()).replace(/"exp":\d+/, '"exp":1e999'), pair),
    'an ID token': token({ nonce: 'n', at_hash: 'h', aud: 'shop', azp: 'shop' }, { typ: 'JWT' }),
    'an ID token for this service': token({ nonce: 'n' }, { typ: 'JWT' }),
    'a token for another service': token({ aud: ['https://orders.example', 'https://catalogue.example.org'] }),
    ...named('claims', [[], 'text', 7, null], (value) => signed(value, pair)),
    'claims that are not JSON': signed('{', pair),
    'claims in broken UTF-8': signed(Buffer.from(JSON.stringify(claims({ name: 'é' })), 'latin1'), pair),
  };
}

/** Malformed tokens, some of which a lenient decoder accepts. */
function misspelled({ token }: AttackedIssuer): Named {
  const good = token();
  const [header = '', payload = '', signature = ''] = good.split('.');
  const json = { payload, signatures: [{ protected: header, signature }] };
  const last = signature.at(-1) ?? '';
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  // The last character of 64 encoded bytes has four unused bits.
  const twin = alphabet[alphabet.indexOf(last) + 1] ?? '';
  return {
    'a signature cut short': good.slice(0, -4),
    'a signature with more characters': `${good}AAAA`,
    'a signature with stray bits': good.slice(0, -1) + twin,
    'no second dot': `${header}.${payload}${signature}`,
    'no payload': `${header}..${signature}`,
    'no header': `.${payload}.${signature}`,
    'dots alone': '..',
    'a fourth part': `${good}.${signature}`,
    'a JWE': `${good}.${signature}.${signature}`,
    'a JWS in JSON': JSON.stringify(json),
    'a flattened JWS in JSON': JSON.stringify({ payload, protected: header, signature }),
    'padding after the signature': `${good}==`,
    'padding after the header': `${header}=.${payload}.${signature}`,
    'white space inside': `${header}. ${payload}.${signature}`,
    'a tab inside': `${header}.${payload}.\t${signature}`,
    'the other base64 alphabet': `${header}.${payload}.${signature.slice(0, -2)}+/`,
    'characters that decoders skip': `${header}.${payload}.${signature.slice(0, 9)}!${signature.slice(9)}`,
    'percent signs': good.replaceAll('.', '%2E'),
    'a NUL in percent signs': `${good}%00`,
    'quotes around the token': `"${good}"`,
    'a second scheme': `Bearer ${good}`,
    'two tokens and a comma': `${good}, Bearer ${good}`,
    'two tokens and a comma alone': `${good},${good}`,
    'a good token of more than 8 KiB': token({ filling: 'x'.repeat(6_200) }),
    '8 KiB of letters': 'A'.repeat(8_192),
    '8 KiB of dots': '.'.repeat(8_192),
    'deep JSON': `${encoded('['.repeat(3_000))}.${payload}.${signature}`,
    'a claim instead of a token': JSON.stringify({ sub: 'shop' }),
  };
}

/** A valid token in a wrong place, or in two places. */
function elsewhere(issuer: AttackedIssuer): Attack[] {
  const token = issuer.token();
  const missing = { token, status: 401, code: 'unauthenticated' };
  const twice = { token, status: 400, code: 'invalid_parameter' };
  return [
    { name: 'a token in the query', query: `?access_token=${token}`, ...missing },
    { name: 'a token in the query, called token', query: `?token=${token}`, ...missing },
    { name: 'a token in the body', body: JSON.stringify({ name: 'x', access_token: token }), ...missing },
    { name: 'a token of the scheme Basic', authorization: `Basic ${token}`, ...missing },
    { name: 'a token of the scheme DPoP', authorization: `DPoP ${token}`, ...missing },
    { name: 'a token without a scheme', authorization: token, ...missing },
    { name: 'a scheme that runs into the token', authorization: `Bearer${token}`, ...missing },
    ...[`Bearer ${token}`, 'Basic eDp5'].map((second) => ({
      name: `two Authorization fields, the second one ${second.slice(0, 6)}`,
      authorization: [`Bearer ${token}`, second],
      ...twice,
    })),
  ];
}

function named(part: string, values: readonly unknown[], make: (value: unknown) => string): Named {
  const text = (value: unknown) => (value === undefined ? 'absent' : JSON.stringify(value));
  return Object.fromEntries(values.map((value) => [`${part} ${text(value)}`, make(value)]));
}
