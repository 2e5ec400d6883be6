import type { ResultBuffers } from '../adapters/inbound/http/import/result-buffer.js';
import type { Route } from '../adapters/inbound/http/route.js';
import type { PinoJournal } from '../adapters/outbound/pino/pino-journal.js';
import type { PrometheusMetrics } from '../adapters/outbound/prometheus/prometheus-metrics.js';
import type { ApiKeyUseCases } from '../application/api-key-use-cases.js';
import type { Authenticator } from '../application/auth/authenticator.js';
import type { CredentialCache } from '../application/auth/credential-cache.js';
import type { KeyAdministration } from '../application/auth/key-administration.js';
import type { SigningKeyAdministration } from '../application/auth/signing-key-administration.js';
import type { SigningKeys } from '../application/auth/signing-keys.js';
import type { TokenIssuer } from '../application/auth/token-issuer.js';
import type { LeasedIds } from '../application/leased-ids.js';
import type { ApiKeyFormat } from '../application/ports/api-key-format.js';
import type { Backoff } from '../application/ports/backoff.js';
import type { Clock } from '../application/ports/clock.js';
import type { RateLimiter } from '../application/ports/rate-limiter.js';
import type { Store } from '../application/ports/store.js';
import type { TokenSigner } from '../application/ports/token-signer.js';
import type { RecordUseCases } from '../application/record-use-cases.js';
import type { Settings } from '../config/settings.js';
import type { ApiKey } from '../domain/access.js';
import type { Order } from '../domain/order.js';
import type { Product } from '../domain/product.js';
import type { User } from '../domain/user.js';
import type { ServiceUrl } from './public-url.js';
import type { RateLimits } from './rate-limits.js';
import type { Stored } from './stores.js';
import type { Sweeping } from './sweeping.js';
import type { Transport } from './transports.js';
import { type Token, token } from './typed-token.js';

export const SETTINGS = token<Settings>('Settings');
export const CLOCK = token<Clock>('Clock');
export const BACKOFF = token<Backoff>('Backoff');
export const JOURNAL = token<PinoJournal>('Journal');
export const METRICS = token<PrometheusMetrics>('Metrics');
export const TRANSPORT = token<Transport>('Transport');
export const STORED = token<Stored>('Stored');
export const STORE = token<Store>('Store');
export const SPOOLS = token<ResultBuffers>('ResultBuffers');
export const SWEEPING = token<Sweeping>('Sweeping');
export const KEY_FORMAT = token<ApiKeyFormat>('ApiKeyFormat');
export const CREDENTIAL_CACHE = token<CredentialCache>('CredentialCache');
export const PUBLIC_URL = token<ServiceUrl>('PublicUrl');
export const TOKEN_SIGNER = token<TokenSigner>('TokenSigner');
export const SIGNING_KEY_ADMINISTRATION = token<SigningKeyAdministration>('SigningKeyAdministration');
export const SIGNING_KEYS = token<SigningKeys>('SigningKeys');
export const TOKEN_ISSUER = token<TokenIssuer>('TokenIssuer');
export const OAUTH_ENDPOINTS = token<readonly Route[]>('endpoints of OAuth');
export const DOCS_ENDPOINTS = token<readonly Route[]>('endpoints of the page at /docs');
export const OPENAPI_ENDPOINT = token<Route>('endpoint of the OpenAPI document');
export const RATE_LIMITS = token<RateLimits>('RateLimits');
export const REQUEST_LIMITER = token<RateLimiter>('RateLimiter of requests');
export const FAILURE_LIMITER = token<RateLimiter>('RateLimiter of failed authentications');
export const AUTHENTICATOR = token<Authenticator>('Authenticator');
export const KEY_ADMINISTRATION = token<KeyAdministration>('KeyAdministration');

/** What is bound of a resource. */
export interface ResourceTokens<Fields, UseCases extends RecordUseCases<Fields>> {
  readonly ids: Token<LeasedIds>;
  readonly useCases: Token<UseCases>;
  readonly endpoints: Token<readonly Route[]>;
}

function resourceTokens<Fields, UseCases extends RecordUseCases<Fields> = RecordUseCases<Fields>>(
  plural: string,
): ResourceTokens<Fields, UseCases> {
  return {
    ids: token(`LeasedIds of ${plural}`),
    useCases: token(`RecordUseCases of ${plural}`),
    endpoints: token(`endpoints of ${plural}`),
  };
}

export const PRODUCTS = resourceTokens<Product>('products');
export const USERS = resourceTokens<User>('users');
export const ORDERS = resourceTokens<Order>('orders');
export const API_KEYS = resourceTokens<ApiKey, ApiKeyUseCases>('API keys');

/** All that the service serves. */
export const RESOURCES = [PRODUCTS, USERS, ORDERS, API_KEYS];
