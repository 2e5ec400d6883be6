import type { InjectionToken } from 'tsyringe';
import type { Route } from '../adapters/inbound/http/core/route.js';
import type { PinoLogger } from '../adapters/outbound/pino/logger.js';
import type { PrometheusMetrics } from '../adapters/outbound/prometheus/metrics.js';
import type { Authenticator } from '../application/auth/authenticator.js';
import type { CredentialCache } from '../application/auth/credential-cache.js';
import type { KeyAdministration } from '../application/auth/key-administration.js';
import type { SigningKeyAdministration } from '../application/auth/signing-key-administration.js';
import type { SigningKeys } from '../application/auth/signing-keys.js';
import type { UsageCounter } from '../application/auth/usage-counter.js';
import type { ApiKeyFormat } from '../application/ports/api-key-format.js';
import type { Backoff } from '../application/ports/backoff.js';
import type { Clock } from '../application/ports/clock.js';
import type { StoreObserver } from '../application/ports/store-observer.js';
import type { TokenSigner } from '../application/ports/token-signer.js';
import type { ServiceUrl } from './public-url.js';
import type { RateLimits } from './rate-limits.js';
import type { Resources } from './resources.js';
import type { Service, ServiceParts } from './service.js';
import type { Storage } from './storage.js';

/** A token carries the type of its part, so a wrong registration does not compile. */
function token<Part>(description: string): InjectionToken<Part> {
  return Symbol(description);
}

export const CLOCK = token<Clock>('clock');
export const BACKOFF = token<Backoff>('backoff');
export const LOGGER = token<PinoLogger>('logger');
export const METRICS = token<PrometheusMetrics>('metrics');
export const RATE_LIMITS = token<RateLimits>('rate limits');
/** Learn of every call of the store and of Redis. */
export const STORE_OBSERVERS = token<readonly StoreObserver[]>('observers of the store');
export const STORAGE = token<Storage>('storage');

export const KEY_FORMAT = token<ApiKeyFormat>('format of API keys');
export const CREDENTIAL_CACHE = token<CredentialCache>('credential cache');
export const KEY_ADMINISTRATION = token<KeyAdministration>('administration of API keys');
export const USAGE_COUNTER = token<UsageCounter>('usage counter of API keys');
export const AUTHENTICATOR = token<Authenticator>('authenticator');

export const PUBLIC_URL = token<ServiceUrl>('public URL');
export const TOKEN_SIGNER = token<TokenSigner>('token signer');
export const SIGNING_KEY_ADMINISTRATION = token<SigningKeyAdministration>('administration of signing keys');
export const SIGNING_KEYS = token<SigningKeys>('signing keys');

export const RESOURCES = token<Resources>('resources');
export const OAUTH_ROUTES = token<readonly Route[]>('routes of OAuth');
/** All routes except the probes. */
export const ROUTES = token<readonly Route[]>('routes');
/** Created after the service knows its URL. */
export const OPENAPI_DOCUMENT = token<object>('OpenAPI document');
export const SERVICE_PARTS = token<ServiceParts>('parts of the service');
export const SERVICE = token<Service>('service');
