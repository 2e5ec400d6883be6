import { isUtf8 } from 'node:buffer';
import type { AccessTokens } from '../../../../application/auth/access-tokens.js';
import {
  AuthenticationThrottled,
  type Authenticator,
  isBadCredential,
} from '../../../../application/auth/authenticator.js';
import type { Scope } from '../../../../domain/access.js';
import { invalidToken } from '../../../../domain/access-token.js';
import { AppError, type Issue, jsonPointer } from '../../../../domain/errors.js';
import { readBody } from '../body/json-body.js';
import type { Context } from '../core/context.js';
import type { CodedError } from '../core/http-error.js';
import { FORM, JSON_TYPE } from '../core/media-types.js';
import type { Route } from '../core/route.js';
import { setRateHeaders } from '../middleware/authenticate.js';
import { OAuthError } from './oauth-errors.js';

export const GRANT_TYPE = 'client_credentials';

/** A client id, its secret, its scopes and the grant take less than 1 KiB. */
const MAX_FORM_BYTES = 16 * 1_024;
/** More than any grant has. */
const MAX_PARAMETERS = 100;
/** Several times as long as the list of all scopes. */
const MAX_SCOPE_LENGTH = 1_000;

/** The parameters of a form that have a value. One without a value counts as not sent (RFC 6749 section 3.2). */
type Form = ReadonlyMap<string, string>;

export interface TokenRouteDependencies {
  readonly accessTokens: AccessTokens;
  readonly authenticator: Authenticator;
  /** The limit of any body. That of a form is 16 KiB, if this is not less. */
  readonly bodyLimitBytes: number;
}

/** The route of the token endpoint, which grants access tokens for client credentials (RFC 6749 section 4.4). */
export function tokenRoute(deps: TokenRouteDependencies): Route {
  return {
    template: '/oauth/token',
    path: /^\/oauth\/token$/,
    access: 'public',
    operations: {
      POST: {
        purpose: { kind: 'token' },
        // For caches that do not know Cache-Control (RFC 6749 section 5.1).
        headers: (ctx) => ctx.set('Pragma', 'no-cache'),
        consumes: {
          [FORM]: {
            read: readBody(Math.min(deps.bodyLimitBytes, MAX_FORM_BYTES), parseForm),
            handle: (ctx) => grantToken(ctx, deps).catch((error) => refuse(ctx, error)),
          },
        },
      },
    },
    mapError: toOAuthError,
  };
}

async function grantToken(ctx: Context, { accessTokens, authenticator }: TokenRouteDependencies): Promise<void> {
  const form = ctx.request.body as Form;
  checkGrantType(form.get('grant_type'));
  const { id, secret } = clientCredentials(ctx.get('Authorization'), form);
  const client = await authenticator.authenticateClient(id, secret, ctx.state.address);
  ctx.state.principal = client;
  const scopes = grantedScopes(form.get('scope'), client.scopes);
  const { token, lifetimeSeconds } = await accessTokens.issue(client, scopes);
  // Failed authentications of others at this IP address do not throttle the first use of the token.
  authenticator.remember(token, client);
  ctx.set('Content-Type', JSON_TYPE);
  ctx.body = JSON.stringify({
    access_token: token,
    token_type: 'Bearer',
    expires_in: lifetimeSeconds,
    scope: scopes.join(' '),
  });
}

/** If the error rejects the client, the 401 names the accepted scheme (RFC 9110 section 15.5.2). */
function refuse(ctx: Context, error: unknown): never {
  if (error instanceof AuthenticationThrottled) setRateHeaders(ctx, error.policy, error.state);
  if (isClientRefusal(error)) ctx.set('WWW-Authenticate', 'Basic realm="catalogue", charset="UTF-8"');
  throw error;
}

function checkGrantType(grantType: string | undefined): void {
  if (grantType === GRANT_TYPE) return;
  if (grantType === undefined) throw invalidForm(parameterIssue('required', 'grant_type', 'grant_type is missing.'));
  const message = `The one grant_type here is ${GRANT_TYPE}.`;
  const error = invalidForm(parameterIssue('out_of_range', 'grant_type', message));
  throw new OAuthError('unsupported_grant_type', error);
}

/** @returns the scopes in the order of the key */
function grantedScopes(parameter: string | undefined, scopes: readonly Scope[]): readonly Scope[] {
  if (parameter === undefined) return scopes;
  const names = parameter.length > MAX_SCOPE_LENGTH ? [''] : parameter.split(' ');
  const allowed: readonly string[] = scopes;
  if (names.every((name) => allowed.includes(name))) return scopes.filter((scope) => names.includes(scope));
  const message = `scope takes, with a space between two: ${scopes.join(' ')}.`;
  throw new OAuthError('invalid_scope', invalidForm(parameterIssue('out_of_range', 'scope', message)));
}

/**
 * Converts an error. For throttling and outages, the code is that of the authorization endpoint (RFC 6749 section
 * 4.1.2.1).
 */
function toOAuthError(error: CodedError): CodedError {
  if (error instanceof OAuthError) return error;
  if (TEMPORARY.includes(error.code)) return new OAuthError('temporarily_unavailable', error);
  if (!isClientRefusal(error)) return new OAuthError('invalid_request', error);
  // The same for an unknown client and for a wrong secret.
  const unknown = invalidToken('There is no client with this id and this secret.');
  return new OAuthError('invalid_client', error.code === 'invalid_token' ? unknown : error);
}

const TEMPORARY: readonly string[] = ['rate_limited', 'unavailable'];

function isClientRefusal(error: unknown): boolean {
  return isBadCredential(error) || (error instanceof AppError && error.code === 'unauthenticated');
}

interface ClientCredentials {
  readonly id: string;
  readonly secret: string;
}

const BASIC = /^basic(?: +|$)/i;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Stands for credentials that cannot be decoded. They are rejected and counted like a wrong secret. */
const UNREADABLE: ClientCredentials = { id: '', secret: '' };

/**
 * Reads the id and secret of the client, by `client_secret_basic` or `client_secret_post` (RFC 6749 section 2.3.1).
 * @throws AppError `unauthenticated` if no secret was sent; `validation_failed` if the request uses both
 */
function clientCredentials(authorization: string, form: Form): ClientCredentials {
  const [id, secret] = [form.get('client_id'), form.get('client_secret')];
  if (!BASIC.test(authorization)) {
    if (secret !== undefined) return { id: id ?? '', secret };
    const message = 'This needs client credentials: the id of an API key, and the key as the secret.';
    throw new AppError('unauthenticated', message);
  }
  const basic = readBasic(authorization.replace(BASIC, ''));
  if (secret === undefined && (id === undefined || id === basic.id)) return basic;
  const name = secret === undefined ? 'client_id' : 'client_secret';
  const message = 'The client is named in the header Authorization and, in another way, in the body.';
  throw invalidForm(parameterIssue('duplicate_value', name, message));
}

/** Decodes HTTP Basic credentials. Unlike in RFC 7617, both parts are form-encoded. */
function readBasic(encoded: string): ClientCredentials {
  if (!BASE64.test(encoded)) return UNREADABLE;
  const [rawId = '', ...rest] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  const [id, secret] = [decodeFormText(rawId), decodeFormText(rest.join(':'))];
  return id === undefined || secret === undefined ? UNREADABLE : { id, secret };
}

function parseForm(bytes: Buffer): Form {
  if (!isUtf8(bytes)) throw unreadable('is not UTF-8');
  const pairs = bytes.toString('utf8').split('&', MAX_PARAMETERS + 1);
  if (pairs.length > MAX_PARAMETERS) throw unreadable(`has more than ${MAX_PARAMETERS} parameters`);
  const form = new Map<string, string>();
  const repeated = new Set<string>();
  for (const pair of pairs) {
    const [name, value] = decodePair(pair);
    if (form.has(name)) repeated.add(name);
    if (value !== '') form.set(name, value);
  }
  if (repeated.size > 0) throw invalidForm(...[...repeated].map(repetition));
  return form;
}

function decodePair(pair: string): [name: string, value: string] {
  const [rawName = '', ...rest] = pair.split('=');
  const [name, value] = [decodeFormText(rawName), decodeFormText(rest.join('='))];
  if (name === undefined || value === undefined) throw unreadable('is not percent-encoded UTF-8');
  return [name, value];
}

/** @returns undefined if the text is not percent-encoded UTF-8 */
function decodeFormText(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

function repetition(name: string): Issue {
  return parameterIssue('duplicate_value', name, 'A parameter is given more than once.');
}

function parameterIssue(code: Issue['code'], name: string, message: string): Issue {
  return { code, message, in: 'body', pointer: jsonPointer([name]) };
}

/** The error of a body that is not a form. It quotes nothing, because the body can contain a secret. */
function unreadable(why: string): AppError {
  return invalidForm({ code: 'invalid_format', message: `The body ${why}.`, in: 'body', pointer: '' });
}

function invalidForm(...issues: readonly Issue[]): AppError {
  return new AppError('validation_failed', issues.map(({ message }) => message).join(' '), issues);
}
