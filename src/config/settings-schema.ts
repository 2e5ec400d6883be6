import Joi from 'joi';
import { STORES, type StoreName, type StoreSettings, type Stores } from '../composition/stores/index.js';
import { serverUrl } from '../composition/stores/server-url.js';
import {
  addressList,
  apiKey,
  issuerUrl,
  nameList,
  originList,
  ownPort,
  publicUrl,
  redisUrl,
} from './validators.js';

const SWITCH = ['on', 'off'] as const;
const RATE_LIMITER_NAMES = ['memory', 'redis'] as const;
const TLS_MODES = ['self-signed', 'files', 'proxy'] as const;
/** From the most detailed to none. */
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const LOG_FORMATS = ['auto', 'json', 'text'] as const;

/** The validated settings. The schema below describes each; an optional text that is not set is empty. */
export interface Settings extends StoreSettings {
  readonly HOST: string;
  readonly PORT: number;
  readonly MANAGEMENT_HOST: string;
  readonly MANAGEMENT_PORT: number;
  readonly DATA_DIR: string;
  readonly STORE: StoreName;
  readonly STORE_START_TIMEOUT_SECONDS: number;
  readonly BOOTSTRAP_API_KEY: string;
  readonly PUBLIC_URL: string;
  readonly OAUTH_ISSUER: string;
  readonly OAUTH_AUDIENCE: string;
  readonly PUBLIC_READ: 'products' | '';
  readonly PUBLIC_MAX_AGE: number;
  readonly QUERY_TIMEOUT_MS: number;
  readonly REQUIRE_IF_MATCH: boolean;
  readonly CHANGES: (typeof SWITCH)[number];
  readonly RATE_LIMITER: (typeof RATE_LIMITER_NAMES)[number];
  /** May hold a password. */
  readonly REDIS_URL: string;
  readonly RATE_LIMIT_REQUESTS: number;
  readonly RATE_LIMIT_WINDOW_SECONDS: number;
  readonly BODY_LIMIT_BYTES: number;
  readonly CORS_ORIGINS: string;
  /** Addresses and CIDRs, separated by commas; empty: none. */
  readonly WEBHOOK_NETWORKS: string;
  readonly TLS: (typeof TLS_MODES)[number];
  readonly TLS_CERT_FILE: string;
  readonly TLS_KEY_FILE: string;
  /** Separated by commas, spelt as in a URL, but IPv6 addresses without brackets. */
  readonly TLS_NAMES: string;
  readonly TRUSTED_PROXIES: string;
  /** `auto` is replaced by the number of cores. */
  readonly WORKERS: number;
  readonly SHUTDOWN_GRACE_SECONDS: number;
  readonly LOG_LEVEL: (typeof LOG_LEVELS)[number];
  readonly LOG_FORMAT: (typeof LOG_FORMATS)[number];
}

const YEAR_SECONDS = 31_536_000;
export const MAX_WORKERS = 64;

/** In the order of the documentation, which shows the meta value `default` instead of a computed default. */
export function settingsSchema(stores: Stores): Joi.ObjectSchema<Settings> {
  const singles = Object.keys(stores).filter((name) => stores[name]?.processes === 'one');
  return Joi.object<Settings, true>({
    HOST: Joi.string()
      .hostname()
      .required()
      .description(
        'The address on which the service listens; `localhost` is both 127.0.0.1 and ::1, where the machine has them.',
      ),
    PORT: Joi.number()
      .port()
      .required()
      .description('The port on which the service listens; 0 takes any free port.'),
    MANAGEMENT_HOST: Joi.string()
      .hostname()
      .required()
      .description('The address on which probes and Prometheus reach the service in plain HTTP.'),
    MANAGEMENT_PORT: Joi.number()
      .port()
      .required()
      .custom(ownPort)
      .messages({
        'any.invalid':
          'MANAGEMENT_PORT and PORT name one port, and the service listens on two; choose another for one of them',
      })
      .description(
        'The port of `/health/live`, `/health/ready` and `/metrics` in plain HTTP; 0 takes any free port.',
      ),
    DATA_DIR: Joi.string()
      .required()
      .description(
        'The folder of certificates, unread import results and, unless `SQLITE_FILE` is set, the database.',
      ),
    STORE: Joi.string()
      .valid(...Object.keys(stores))
      .required()
      .description('The database; `memory` forgets everything when the process ends.'),
    ...settingsOf(stores),
    STORE_START_TIMEOUT_SECONDS: Joi.number()
      .integer()
      .min(1)
      .max(86_400)
      .required()
      .description('How long the start waits for the store, in seconds, before it ends with exit code 75.'),
    BOOTSTRAP_API_KEY: Joi.string()
      .meta({ secrecy: 'all' })
      .allow('')
      .custom(apiKey)
      .default('')
      .messages({
        'any.invalid': 'BOOTSTRAP_API_KEY must be a well-formed key, as catalogue keys generate prints one',
      })
      .description(
        'A well-formed API key that becomes the first key of a new store, instead of a generated one.',
      ),
    PUBLIC_URL: Joi.string()
      .allow('')
      .custom(publicUrl)
      .default('')
      .messages({
        'any.invalid':
          'PUBLIC_URL must be https://HOST, perhaps with a port and a path, in its normal form and with no slash at the end',
      })
      .meta({ default: 'https://localhost:PORT' })
      .description(
        'The address under which clients know the service, without a slash at the end; the same for all replicas.',
      ),
    OAUTH_ISSUER: Joi.string()
      .allow('')
      .custom(issuerUrl)
      .default('')
      .messages({
        'issuer.own':
          'OAUTH_ISSUER must be another than this service itself, whose own tokens are taken anyway',
        'any.invalid':
          'OAUTH_ISSUER must be an https:// address without query or fragment, or http:// of this machine',
      })
      .description(
        'The OAuth 2.0 server whose access tokens are accepted, exactly as their `iss` names it: an https address, or ' +
          'an http address of this machine.',
      ),
    OAUTH_AUDIENCE: Joi.string()
      .default('')
      .when('OAUTH_ISSUER', { not: '', then: Joi.required(), otherwise: Joi.optional().allow('') })
      .messages({ 'any.required': 'OAUTH_AUDIENCE is required by OAUTH_ISSUER' })
      .description('The value that `aud` of those tokens must contain, required with `OAUTH_ISSUER`.'),
    PUBLIC_READ: Joi.string()
      .valid('', 'products')
      .required()
      .description('The resource that can be read without a token, if any.'),
    PUBLIC_MAX_AGE: Joi.number()
      .integer()
      .min(0)
      .max(YEAR_SECONDS)
      .required()
      .description('How long caches may keep a public response, in seconds.'),
    QUERY_TIMEOUT_MS: Joi.number()
      .integer()
      .min(1)
      .max(600_000)
      .required()
      .description('How long a list or count that no index serves may take, in milliseconds.'),
    REQUIRE_IF_MATCH: Joi.boolean()
      .required()
      .description(
        'Whether changes of a record without `If-Match`, or in an import without `version`, are refused with 428.',
      ),
    CHANGES: Joi.string()
      .valid(...SWITCH)
      .required()
      .description(
        'Whether changes are recorded and shown at `/changes`, for all processes of the store alike; after a time with ' +
          '`off`, all cursors of changes are expired.',
      ),
    RATE_LIMITER: Joi.string()
      .valid(...RATE_LIMITER_NAMES)
      .required()
      .description(
        'Where requests are counted: `memory` for one machine, `redis` for all replicas together.',
      ),
    REDIS_URL: serverUrl()
      .custom(redisUrl)
      .default('')
      .when('RATE_LIMITER', { not: 'redis', otherwise: Joi.required() })
      .messages({
        'any.required': 'REDIS_URL is required by RATE_LIMITER=redis',
        'any.invalid':
          'REDIS_URL must be redis://HOST:PORT/DATABASE, or rediss://… for TLS, with % as %25 in a password',
      })
      .description(
        'The address of Redis as `redis://HOST:PORT/DATABASE`, or `rediss://…` for TLS, required with `RATE_LIMITER=redis`.',
      ),
    RATE_LIMIT_REQUESTS: Joi.number()
      .integer()
      .min(1)
      .max(1_000_000_000)
      .required()
      .description(
        'How many requests one principal, or one address without a credential, may send in one window.',
      ),
    RATE_LIMIT_WINDOW_SECONDS: Joi.number()
      .integer()
      .min(1)
      .max(86_400)
      .required()
      .description('The length of that window, in seconds.'),
    BODY_LIMIT_BYTES: Joi.number()
      .integer()
      .min(1_024)
      .max(134_217_728)
      .required()
      .description('The largest request body, and the largest line of an import, in bytes.'),
    CORS_ORIGINS: Joi.string()
      .allow('')
      .custom(originList)
      .required()
      .description(
        'The origins whose scripts may use the service, in lower case and separated by commas, or `*` for any origin.',
      ),
    WEBHOOK_NETWORKS: Joi.string()
      .allow('')
      .custom(addressList)
      .required()
      .description(
        'The addresses and CIDRs, separated by commas, to which webhooks may be sent though they are not public.',
      ),
    TLS: Joi.string()
      .valid(...TLS_MODES)
      .required()
      .description(
        'Where the certificate comes from: `self-signed` makes a local CA and a certificate for localhost, `files` ' +
          'reads your own, and `proxy` serves plain HTTP to a proxy that ends TLS.',
      ),
    TLS_CERT_FILE: requiredUnder('files', Joi.string()).description(
      'The certificate and its chain in PEM, required with `TLS=files`; it is read again when it changes.',
    ),
    TLS_KEY_FILE: requiredUnder('files', Joi.string()).description(
      'The private key of that certificate in PEM, required with `TLS=files`.',
    ),
    TLS_NAMES: Joi.string()
      .allow('')
      .custom(nameList)
      .required()
      .description(
        'Host names in ASCII and addresses, separated by commas and without wildcards, that the self-signed certificate ' +
          'holds besides `localhost`, `127.0.0.1`, `::1` and the host of `PUBLIC_URL`.',
      ),
    TRUSTED_PROXIES: requiredUnder('proxy', Joi.string().custom(addressList)).description(
      'The addresses and CIDRs of the proxies, separated by commas, required with `TLS=proxy`; a request is served only ' +
        'if it comes from one of them with `X-Forwarded-Proto: https`.',
    ),
    WORKERS: Joi.number()
      .integer()
      .min(1)
      .max(MAX_WORKERS)
      .required()
      .when('STORE', {
        is: Joi.valid(...singles),
        then: Joi.number().max(1).messages({
          'number.max': 'WORKERS must be 1 with STORE={{STORE}}, which only one process can open',
        }),
      })
      .meta({ values: ['auto'] })
      .description(
        'The number of processes that share the port and the rate limits, or `auto` for one per core; more than 1 needs ' +
          `a \`STORE\` other than ${singles.map((name) => `\`${name}\``).join(' and ')}.`,
      ),
    SHUTDOWN_GRACE_SECONDS: Joi.number()
      .integer()
      .min(0)
      .max(3_600)
      .required()
      .description(
        'How long running requests, and then the reader of the log, may take after the service is told to stop, in seconds.',
      ),
    LOG_LEVEL: Joi.string()
      .valid(...LOG_LEVELS)
      .required()
      .description('The least severe log lines that are written.'),
    LOG_FORMAT: Joi.string()
      .valid(...LOG_FORMATS)
      .required()
      .description(
        'The form of log lines: `json`, `text` for people, or `auto`: `text` on a terminal, else `json`.',
      ),
  }).messages({
    names: '{{#lines}}',
    addresses: '{{#label}} must be addresses and CIDRs, separated by commas',
    origins:
      '{{#label}} must be origins such as https://shop.example, separated by commas and without a path, or *',
  });
}

export const SETTINGS_SCHEMA = settingsSchema(STORES);

function settingsOf(stores: Stores): Readonly<Record<keyof StoreSettings, Joi.StringSchema>> {
  return Object.assign({}, ...Object.values(stores).map(({ settings }) => settings));
}

/** A setting that one value of TLS requires. Under the others it may be set, must be well-formed and is ignored. */
function requiredUnder(tls: Settings['TLS'], schema: Joi.StringSchema): Joi.StringSchema {
  const ignored = Joi.optional().allow('').default('');
  return schema
    .required()
    .when('TLS', { is: tls, otherwise: ignored })
    .messages({ 'any.required': `{{#label}} is required by TLS=${tls}` });
}
