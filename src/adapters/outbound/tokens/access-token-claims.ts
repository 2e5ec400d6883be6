import { hash } from 'node:crypto';
import type { VerifiedCredential } from '../../../application/ports/tokens.js';
import { isScope, type Scope } from '../../../domain/access.js';
import { CLOCK_TOLERANCE_MS, futureToken, invalidToken } from '../../../domain/access-token.js';
import { AppError } from '../../../domain/errors.js';
import type { Instant } from '../../../domain/record.js';
import { isOneLine } from '../../../domain/text.js';
import type { UnverifiedJwt } from './decode-jwt.js';

/** The required `iss` and `aud`. */
export interface Expected {
  readonly issuer: string;
  readonly audience: string;
}

type Claims = UnverifiedJwt['claims'];

const TOLERANCE_SECONDS = CLOCK_TOLERANCE_MS / 1_000;

/** Compared without regard to case (RFC 7515 section 4.1.9). */
const TYPES: readonly string[] = ['at+jwt', 'application/at+jwt'];

/**
 * Checks the claims of an access token (RFC 9068 section 4) whose signature has been verified.
 * @throws AppError `token_expired` if nothing else is wrong with the token, otherwise `invalid_token`. The
 * message names the wrong claim: the issuer did sign it, and the person who configures the issuer needs to know.
 */
export function readAccessToken(
  { header, claims }: UnverifiedJwt,
  expected: Expected,
  now: Instant,
): Omit<VerifiedCredential, 'freshMs'> {
  const seconds = now / 1_000;
  const wrong = isAccessToken(header['typ']) ? wrongClaim(claims, expected) : 'typ';
  if (wrong) throw invalidToken(`The ${wrong} of this access token is not one that this service takes.`);
  const latest = seconds + TOLERANCE_SECONDS;
  for (const claim of ['iat', 'nbf'] as const) if (Number(claims[claim]) > latest) throw futureToken(claim);
  const end = Number(claims['exp']) + TOLERANCE_SECONDS;
  if (end <= seconds) throw new AppError('token_expired', 'The access token has expired.');
  const subject = String(claims['sub']);
  return { id: principalId(claims), scopes: scopesOf(claims), subject, expiresAt: end * 1_000 };
}

function isAccessToken(type: unknown): boolean {
  return typeof type === 'string' && TYPES.includes(type.toLowerCase());
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

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && isOneLine(value);
}

/** A NumericDate (RFC 7519 section 2): seconds, possibly with a fraction. */
function isMoment(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
