import type { AccessTokens } from '../../../../application/auth/access-tokens.js';
import {
  type AuthenticatedClient,
  AuthenticationThrottled,
  type Authenticator,
  isBadCredential,
} from '../../../../application/auth/authenticator.js';
import type { Scope } from '../../../../domain/access.js';
import { invalidToken } from '../../../../domain/access-token.js';
import { AppError, type Issue } from '../../../../domain/errors.js';
import type { Context } from '../core/context.js';
import type { CodedError } from '../core/http-error.js';
import { FORM, JSON_TYPE } from '../core/media-types.js';
import type { Route } from '../core/route.js';
import { setThrottledHeaders } from '../middleware/authenticate.js';
import { decodeFormText, type Form, formIssue, invalidForm, readForm } from './form.js';
import { OAuthError } from './oauth-errors.js';

export const GRANT_TYPE = 'client_credentials';

/** Several times as long as the list of all scopes. */
const MAX_SCOPE_LENGTH = 1_000;

export interface TokenRouteDependencies {
  readonly accessTokens: AccessTokens;
  readonly authenticator: Authenticator;
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
            read: readForm(deps.bodyLimitBytes),
            handle: (ctx) => grantToken(ctx, ctx.request.body as Form, deps),
          },
        },
      },
    },
    mapError: toOAuthError,
  };
}

async function grantToken(
  ctx: Context,
  form: Form,
  { accessTokens, authenticator }: TokenRouteDependencies,
): Promise<void> {
  checkGrantType(form.get('grant_type'));
  const client = await authenticateClient(ctx, form, authenticator);
  ctx.state.principal = client;
  const scopes = grantedScopes(form.get('scope'), client.scopes);
  const { token, lifetimeSeconds } = await accessTokens.issue(client, scopes).catch(throwWithChallenge(ctx));
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

async function authenticateClient(
  ctx: Context,
  form: Form,
  authenticator: Authenticator,
): Promise<AuthenticatedClient> {
  const credentials = clientCredentials(ctx.get('Authorization'), form);
  if (!credentials) return throwWithChallenge(ctx)(missingSecret());
  const { id, secret } = credentials;
  try {
    return await authenticator.authenticateClient(id, secret, ctx.state.address);
  } catch (error) {
    if (error instanceof AuthenticationThrottled) setThrottledHeaders(ctx, error.policy, error.state);
    return throwWithChallenge(ctx)(error);
  }
}

function checkGrantType(grantType: string | undefined): void {
  if (grantType === GRANT_TYPE) return;
  if (grantType === undefined)
    throw invalidForm([formIssue('required', 'grant_type', 'grant_type is missing.')]);
  const message = `The one grant_type here is ${GRANT_TYPE}.`;
  throw new OAuthError(
    'unsupported_grant_type',
    invalidForm([formIssue('out_of_range', 'grant_type', message)]),
  );
}

/** @returns the scopes in the order of the key */
function grantedScopes(scopeParameter: string | undefined, scopes: readonly Scope[]): readonly Scope[] {
  if (scopeParameter === undefined) return scopes;
  if (scopeParameter.length > MAX_SCOPE_LENGTH)
    throw new OAuthError('invalid_scope', invalidForm([scopeIssue(scopes)]));
  const names = scopeParameter.split(' ');
  const allowed: readonly string[] = scopes;
  if (names.some((name) => !allowed.includes(name)))
    throw new OAuthError('invalid_scope', invalidForm([scopeIssue(scopes)]));
  return scopes.filter((scope) => names.includes(scope));
}

function scopeIssue(scopes: readonly Scope[]): Issue {
  return formIssue('out_of_range', 'scope', `scope takes, with a space between two: ${scopes.join(' ')}.`);
}

function missingSecret(): AppError {
  return new AppError(
    'unauthenticated',
    'This needs client credentials: the id of an API key, and the key as the secret.',
  );
}

/** Throws the error. If it rejects the client, the 401 names the accepted scheme (RFC 9110 section 15.5.2). */
function throwWithChallenge(ctx: Context): (error: unknown) => never {
  return (error) => {
    if (isClientRefusal(error)) ctx.set('WWW-Authenticate', 'Basic realm="catalogue", charset="UTF-8"');
    throw error;
  };
}

/**
 * Converts an error. For throttling and outages, the code is that of the authorization endpoint (RFC 6749 section
 * 4.1.2.1).
 */
function toOAuthError(error: CodedError): CodedError {
  if (error instanceof OAuthError) return error;
  if (TEMPORARY.includes(error.code)) return new OAuthError('temporarily_unavailable', error);
  if (!isClientRefusal(error)) return new OAuthError('invalid_request', error);
  return new OAuthError('invalid_client', error.code === 'invalid_token' ? unknownClient() : error);
}

/** The error is the same for an unknown client and for a wrong secret. */
function unknownClient(): AppError {
  return invalidToken('There is no client with this id and this secret.');
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
 * @returns undefined if no secret was sent
 * @throws AppError `validation_failed` if the request uses both
 */
function clientCredentials(authorization: string, form: Form): ClientCredentials | undefined {
  const [id, secret] = [form.get('client_id'), form.get('client_secret')];
  if (!BASIC.test(authorization)) return secret === undefined ? undefined : { id: id ?? '', secret };
  const basic = readBasic(authorization.replace(BASIC, ''));
  const isSentTwice = secret !== undefined || (id !== undefined && id !== basic.id);
  if (isSentTwice) {
    const name = secret === undefined ? 'client_id' : 'client_secret';
    const message = 'The client is named in the header Authorization and, in another way, in the body.';
    throw invalidForm([formIssue('duplicate_value', name, message)]);
  }
  return basic;
}

/** Decodes HTTP Basic credentials. Unlike in RFC 7617, both parts are form-encoded. */
function readBasic(encoded: string): ClientCredentials {
  if (!BASE64.test(encoded)) return UNREADABLE;
  const [rawId = '', ...rest] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  const [id, secret] = [decodeFormText(rawId), decodeFormText(rest.join(':'))];
  return id === undefined || secret === undefined ? UNREADABLE : { id, secret };
}
