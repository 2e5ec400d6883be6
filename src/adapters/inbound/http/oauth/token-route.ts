import {
  type AuthenticatedClient,
  AuthenticationThrottled,
  type Authenticator,
  isBadCredential,
} from '../../../../application/auth/authenticator.js';
import type { TokenIssuer } from '../../../../application/auth/token-issuer.js';
import { invalidToken, type Scope } from '../../../../domain/access.js';
import { AppError, type Issue } from '../../../../domain/errors.js';
import type { Context } from '../context.js';
import { setThrottledHeaders } from '../middleware/rate-limit.js';
import { TOKEN_DESCRIPTION } from '../openapi/oauth.js';
import { noParameter } from '../query/query.js';
import type { CodedError } from '../response/http-error.js';
import type { Route } from '../route.js';
import { decodeFormText, type Form, formIssue, invalidForm, readForm } from './form.js';
import { OAuthError } from './oauth-errors.js';

export const GRANT_TYPE = 'client_credentials';

/** Several times the length of all scopes together. */
const MAX_SCOPE_LENGTH = 1_000;

export interface TokenRouteDependencies {
  readonly issuer: TokenIssuer;
  readonly authenticator: Authenticator;
  readonly bodyLimitBytes: number;
}

/** Grants access tokens for client credentials (RFC 6749 section 4.4). */
export class TokenRoute {
  constructor(private readonly deps: TokenRouteDependencies) {}

  route(): Route {
    return {
      template: '/oauth/token',
      path: /^\/oauth\/token$/,
      access: 'public',
      operations: {
        POST: {
          describe: () => TOKEN_DESCRIPTION,
          parameter: noParameter,
          // RFC 6749 section 5.1: for caches that do not know Cache-Control.
          headers: (ctx) => ctx.set('Pragma', 'no-cache'),
          consumes: {
            'application/x-www-form-urlencoded': {
              read: readForm(this.deps.bodyLimitBytes),
              handle: (ctx) => this.grant(ctx, ctx.request.body as Form),
            },
          },
        },
      },
      mapError: asOAuthError,
    };
  }

  private async grant(ctx: Context, form: Form): Promise<void> {
    checkGrantType(form.get('grant_type'));
    const client = await this.authenticate(ctx, form);
    ctx.state.principal = client;
    const scopes = grantedScopes(form.get('scope'), client.scopes);
    const { token, lifetimeSeconds } = await this.deps.issuer.issue(client, scopes).catch(challenging(ctx));
    // The failures of others at this address do not throttle the first use of the token.
    this.deps.authenticator.remember(token, client);
    ctx.set('Content-Type', 'application/json');
    ctx.body = JSON.stringify({
      access_token: token,
      token_type: 'Bearer',
      expires_in: lifetimeSeconds,
      scope: scopes.join(' '),
    });
  }

  private async authenticate(ctx: Context, form: Form): Promise<AuthenticatedClient> {
    const credentials = clientCredentials(ctx.get('Authorization'), form);
    if (!credentials) return challenging(ctx)(noSecret());
    const { id, secret } = credentials;
    try {
      return await this.deps.authenticator.authenticateClient(id, secret, ctx.state.address);
    } catch (error) {
      if (error instanceof AuthenticationThrottled) setThrottledHeaders(ctx, error.policy, error.state);
      return challenging(ctx)(error);
    }
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
function grantedScopes(requested: string | undefined, scopes: readonly Scope[]): readonly Scope[] {
  if (requested === undefined) return scopes;
  if (requested.length > MAX_SCOPE_LENGTH)
    throw new OAuthError('invalid_scope', invalidForm([beyondScopes(scopes)]));
  const names = requested.split(' ');
  const known: readonly string[] = scopes;
  const beyond = names.filter((name) => !known.includes(name));
  if (beyond.length > 0) throw new OAuthError('invalid_scope', invalidForm([beyondScopes(scopes)]));
  return scopes.filter((scope) => names.includes(scope));
}

function beyondScopes(scopes: readonly Scope[]): Issue {
  return formIssue('out_of_range', 'scope', `scope takes, with a space between two: ${scopes.join(' ')}.`);
}

function noSecret(): AppError {
  return new AppError(
    'unauthenticated',
    'This needs client credentials: the id of an API key, and the key as the secret.',
  );
}

/** Every error about the client is a 401, which has to name an accepted scheme (RFC 9110 section 15.5.2). */
function challenging(ctx: Context): (error: unknown) => never {
  return (error) => {
    if (isClientRefusal(error)) ctx.set('WWW-Authenticate', 'Basic realm="catalogue", charset="UTF-8"');
    throw error;
  };
}

/** Throttling and outages use an error code that RFC 6749 defines for the authorization endpoint (section 4.1.2.1). */
function asOAuthError(error: CodedError): CodedError {
  if (error instanceof OAuthError) return error;
  if (NOT_NOW.includes(error.code)) return new OAuthError('temporarily_unavailable', error);
  if (!isClientRefusal(error)) return new OAuthError('invalid_request', error);
  return new OAuthError('invalid_client', error.code === 'invalid_token' ? unknownClient() : error);
}

/** The same error for an unknown client and for a wrong secret. */
function unknownClient(): AppError {
  return invalidToken('There is no client with this id and this secret.');
}

const NOT_NOW: readonly string[] = ['rate_limited', 'unavailable'];

function isClientRefusal(error: unknown): boolean {
  return isBadCredential(error) || (error instanceof AppError && error.code === 'unauthenticated');
}

interface ClientCredentials {
  readonly id: string;
  readonly secret: string;
}

const BASIC = /^basic(?: +|$)/i;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** No client has these credentials. They are refused and counted like any wrong secret. */
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
  const isTwofold = secret !== undefined || (id !== undefined && id !== basic.id);
  if (isTwofold) {
    const name = secret === undefined ? 'client_id' : 'client_secret';
    const message = 'The client is named in the header Authorization and, in another way, in the body.';
    throw invalidForm([formIssue('duplicate_value', name, message)]);
  }
  return basic;
}

/** Unlike in RFC 7617, both parts are form-encoded before they are joined. */
function readBasic(encoded: string): ClientCredentials {
  if (!BASE64.test(encoded)) return UNREADABLE;
  const [rawId = '', ...rest] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  const [id, secret] = [decodeFormText(rawId), decodeFormText(rest.join(':'))];
  return id === undefined || secret === undefined ? UNREADABLE : { id, secret };
}
