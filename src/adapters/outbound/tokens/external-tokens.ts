import { hash } from 'node:crypto';
import { type CryptoKey, compactVerify } from 'jose';
import type { Clock } from '../../../application/ports/clock.js';
import type { Credential, TokenVerifier, VerifiedCredential } from '../../../application/ports/tokens.js';
import { isScope, type Scope } from '../../../domain/access.js';
import { ACCESS_TOKEN_FRESH_MS, CLOCK_TOLERANCE_MS, futureToken, invalidToken } from '../../../domain/access-token.js';
import { AppError } from '../../../domain/errors.js';
import type { Instant } from '../../../domain/record.js';
import { isOneLine } from '../../../domain/text.js';
import type { IssuerKeys, KeyName } from './issuer-keys.js';
import { decodeUnverified, type UnverifiedJwt } from './jwt.js';

/** The asymmetric algorithms of RFC 7518 section 3.1 and RFC 8037: who can verify with them cannot sign. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
/** Compared without regard to case (RFC 7515 section 4.1.9). */
const TYPES: readonly string[] = ['at+jwt', 'application/at+jwt'];
const TOLERANCE_SECONDS = CLOCK_TOLERANCE_MS / 1_000;

/** The required `iss` and `aud`. */
export interface Expected {
  readonly issuer: string;
  readonly audience: string;
}

export interface ExternalTokenDependencies {
  readonly expected: Expected;
  readonly keys: Pick<IssuerKeys, 'find'>;
  readonly clock: Clock;
}

/** Verifies access tokens (RFC 9068) of another issuer. */
export class ExternalTokenVerifier implements TokenVerifier {
  constructor(private readonly deps: ExternalTokenDependencies) {}

  async verify({ token }: Pick<Credential, 'token'>): Promise<VerifiedCredential> {
    const { expected, keys, clock } = this.deps;
    const jwt = decodeUnverified(token);
    const name = jwt && keyNameIn(jwt.header);
    const key = name && (await keys.find(name));
    if (!(key && (await isSigned(token, key)))) throw invalidToken();
    return { ...readAccessToken(jwt, expected, clock.now()), freshMs: ACCESS_TOKEN_FRESH_MS };
  }
}

/**
 * Reads `alg` and `kid`, the only header fields that count before the signature is verified. Fields that name a place
 * to find a key (`jku`, `x5u`, `jwk`, `x5c`) are ignored. No extension (`crit`, or `b64` of RFC 7797) is supported.
 */
function keyNameIn({ alg, kid, crit, b64 }: UnverifiedJwt['header']): KeyName | undefined {
  if (typeof alg !== 'string' || !ALGORITHMS.includes(alg)) return undefined;
  const isPlain = crit === undefined && b64 === undefined;
  return typeof kid === 'string' && isPlain ? { alg, kid } : undefined;
}

function isSigned(token: string, key: CryptoKey): Promise<boolean> {
  return compactVerify(token, key, { algorithms: ALGORITHMS }).then(
    () => true,
    () => false,
  );
}

type Claims = UnverifiedJwt['claims'];

/**
 * Checks the claims of an access token (RFC 9068 section 4) whose signature has been verified.
 * @throws AppError `token_expired` if nothing else is wrong with the token, otherwise `invalid_token`. The
 * message names the wrong claim: the issuer did sign it, and the person who configures the issuer needs to know.
 */
export function readAccessToken(
  { header: { typ }, claims }: UnverifiedJwt,
  expected: Expected,
  now: Instant,
): Omit<VerifiedCredential, 'freshMs'> {
  const isAccessToken = typeof typ === 'string' && TYPES.includes(typ.toLowerCase());
  const wrong = isAccessToken ? wrongClaim(claims, expected) : 'typ';
  if (wrong) throw invalidToken(`The ${wrong} of this access token is not one that this service takes.`);
  const seconds = now / 1_000;
  for (const claim of ['iat', 'nbf'] as const)
    if (Number(claims[claim]) > seconds + TOLERANCE_SECONDS) throw futureToken(claim);
  const end = Number(claims['exp']) + TOLERANCE_SECONDS;
  if (end <= seconds) throw new AppError('token_expired', 'The access token has expired.');
  const subject = String(claims['sub']);
  return { id: principalId(claims), scopes: scopesOf(claims), subject, expiresAt: end * 1_000 };
}

/** @returns the name of the first wrong claim, if there is one */
function wrongClaim(claims: Claims, { issuer, audience }: Expected): string | undefined {
  const { iss, aud, sub, iat, nbf, exp, scope, scp } = claims;
  const isRight: Readonly<Record<string, boolean>> = {
    iss: iss === issuer,
    aud: listOf(aud)?.includes(audience) ?? false,
    sub: isName(sub),
    client_id: isName(clientOf(claims)),
    iat: isMoment(iat),
    nbf: nbf === undefined || isMoment(nbf),
    exp: isMoment(exp),
    scope: scope === undefined || typeof scope === 'string',
    scp: scp === undefined || listOf(scp) !== undefined,
  };
  return Object.keys(isRight).find((claim) => !isRight[claim]);
}

/** Unknown scopes are ignored: they are for other services. */
function scopesOf({ scope, scp }: Claims): Scope[] {
  const named = (listOf(scope ?? scp) ?? []).flatMap((text) => text.split(' '));
  return [...new Set(named.filter(isScope))];
}

/** The id shows the client's name in the log, in harmless characters. The digest keeps all principals distinct. */
function principalId(claims: Claims): string {
  const client = String(clientOf(claims));
  const digest = hash('sha256', JSON.stringify([claims['iss'], client, claims['sub']]), 'base64url');
  return `oauth:${client.slice(0, 64).replaceAll(/[^\w.~-]/g, '_')}:${digest}`;
}

/** OpenID Connect and issuers older than RFC 9068 call it `azp`. */
function clientOf({ client_id, azp }: Claims): unknown {
  return client_id === undefined ? azp : client_id;
}

function listOf(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined;
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && isOneLine(value);
}

/** A NumericDate (RFC 7519 section 2): seconds, possibly with a fraction. */
function isMoment(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
