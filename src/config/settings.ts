import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import Joi from 'joi';
import { ADDRESSES, issuerUrl, publicUrl, redisUrl } from './addresses.js';
import { isOriginList } from './origins.js';

/** From the most talkative to none at all. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export interface Settings {
  readonly HOST: string;
  /** 0: any free port. */
  readonly PORT: number;
  readonly MANAGEMENT_HOST: string;
  /** 0: any free port. */
  readonly MANAGEMENT_PORT: number;
  readonly DATA_DIR: string;
  readonly STORE: 'sqlite' | 'memory' | 'mongodb';
  readonly SQLITE_FILE: string;
  /** Empty unless STORE is mongodb. May hold a password. */
  readonly MONGODB_URL: string;
  readonly STORE_START_TIMEOUT_SECONDS: number;
  readonly RATE_LIMITER: 'memory' | 'redis';
  /** Needed by RATE_LIMITER=redis. May hold a password. */
  readonly REDIS_URL: string;
  readonly RATE_LIMIT_REQUESTS: number;
  readonly RATE_LIMIT_WINDOW_SECONDS: number;
  readonly BODY_LIMIT_BYTES: number;
  /** For a query that no index serves. */
  readonly QUERY_TIMEOUT_MS: number;
  readonly REQUIRE_IF_MATCH: boolean;
  /** The resource that may be read without a token, if any. */
  readonly PUBLIC_READ: 'products' | '';
  /** Seconds. */
  readonly PUBLIC_MAX_AGE: number;
  /** As browsers send them, separated by commas; `*`: any; empty: none. */
  readonly CORS_ORIGINS: string;
  readonly TLS: 'self-signed' | 'files' | 'proxy';
  /** PEM files, the chain behind the certificate; empty unless TLS is `files`. */
  readonly TLS_CERT_FILE: string;
  readonly TLS_KEY_FILE: string;
  /** Addresses and CIDRs, separated by commas; not empty where TLS is `proxy`. */
  readonly TRUSTED_PROXIES: string;
  /** Under which clients know the service, without a slash at the end; empty: `https://localhost:PORT`. */
  readonly PUBLIC_URL: string;
  /** Whose tokens are taken beside this service's own; empty: nobody's. As the tokens' `iss` has it. */
  readonly OAUTH_ISSUER: string;
  /** What their `aud` must name; not empty where there is an issuer. */
  readonly OAUTH_AUDIENCE: string;
  readonly SHUTDOWN_GRACE_SECONDS: number;
  /** Processes that serve, from 1; `auto` is already the number that it stands for here. */
  readonly WORKERS: number;
  readonly LOG_LEVEL: (typeof LOG_LEVELS)[number];
  readonly BOOTSTRAP_API_KEY: string;
}

/** The settings are wrong; one fault a line, none of them showing a value that may be secret. */
export class SettingsError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'));
  }
}

const YEAR_SECONDS = 31_536_000;
const MAX_WORKERS = 64;

const ORIGINS = Joi.string()
  .allow('')
  .custom((list: string, { error }) => (isOriginList(list) ? list : error('origins')));

const SCHEMA = Joi.object<Settings, true>({
  HOST: Joi.string().hostname().required(),
  PORT: Joi.number().port().required(),
  MANAGEMENT_HOST: Joi.string().hostname().required(),
  MANAGEMENT_PORT: Joi.number().port().required(),
  DATA_DIR: Joi.string().required(),
  STORE: Joi.string().valid('sqlite', 'memory', 'mongodb').required(),
  SQLITE_FILE: Joi.string().default((parent: Settings) => join(parent.DATA_DIR, 'catalogue.sqlite')),
  MONGODB_URL: Joi.string()
    .pattern(/^mongodb(\+srv)?:\/\/./)
    .messages({ 'string.pattern.base': 'MONGODB_URL must begin with mongodb:// or mongodb+srv://' })
    .when('STORE', { is: 'mongodb', then: Joi.required(), otherwise: Joi.allow('').default('') }),
  STORE_START_TIMEOUT_SECONDS: Joi.number().integer().min(1).max(86_400).required(),
  RATE_LIMITER: Joi.string().valid('memory', 'redis').required(),
  REDIS_URL: Joi.string()
    .custom(redisUrl)
    .default('')
    .when('RATE_LIMITER', { not: 'redis', otherwise: Joi.required() })
    .messages({
      'any.required': 'REDIS_URL is required by RATE_LIMITER=redis',
      'any.invalid': 'REDIS_URL must be redis://HOST:PORT/DATABASE, or rediss://… for TLS',
    }),
  RATE_LIMIT_REQUESTS: Joi.number().integer().min(1).max(1_000_000_000).required(),
  RATE_LIMIT_WINDOW_SECONDS: Joi.number().integer().min(1).max(86_400).required(),
  BODY_LIMIT_BYTES: Joi.number().integer().min(1_024).max(134_217_728).required(),
  QUERY_TIMEOUT_MS: Joi.number().integer().min(1).max(600_000).required(),
  REQUIRE_IF_MATCH: Joi.boolean().required(),
  PUBLIC_READ: Joi.string().valid('', 'products').required(),
  PUBLIC_MAX_AGE: Joi.number().integer().min(0).max(YEAR_SECONDS).required(),
  CORS_ORIGINS: ORIGINS.required(),
  TLS: Joi.string().valid('self-signed', 'files', 'proxy').required(),
  TLS_CERT_FILE: requiredUnder('files', Joi.string()),
  TLS_KEY_FILE: requiredUnder('files', Joi.string()),
  TRUSTED_PROXIES: requiredUnder('proxy', ADDRESSES),
  PUBLIC_URL: Joi.string().allow('').custom(publicUrl).default('').messages({
    'any.invalid':
      'PUBLIC_URL must be https://HOST, perhaps with a port and a path, in its normal form and with no slash at the end',
  }),
  OAUTH_ISSUER: Joi.string().allow('').custom(issuerUrl).default('').messages({
    'issuer.own': 'OAUTH_ISSUER must be another than this service itself, whose own tokens are taken anyway',
    'any.invalid':
      'OAUTH_ISSUER must be an https:// address without query or fragment, or http:// of this machine',
  }),
  OAUTH_AUDIENCE: Joi.string()
    .default('')
    .when('OAUTH_ISSUER', { not: '', then: Joi.required(), otherwise: Joi.optional().allow('') })
    .messages({ 'any.required': 'OAUTH_AUDIENCE is required by OAUTH_ISSUER' }),
  SHUTDOWN_GRACE_SECONDS: Joi.number().integer().min(0).max(3_600).required(),
  WORKERS: Joi.number()
    .integer()
    .min(1)
    .max(MAX_WORKERS)
    .messages({ '*': `WORKERS must be an integer from 1 to ${MAX_WORKERS}, or auto` })
    .required()
    .when('STORE', {
      is: 'memory',
      then: Joi.number().max(1).messages({
        'number.max': 'WORKERS must be 1 with STORE=memory, which is the memory of one process',
      }),
    }),
  LOG_LEVEL: Joi.string()
    .valid(...LOG_LEVELS)
    .required(),
  BOOTSTRAP_API_KEY: Joi.string().allow('').default(''),
}).messages({
  addresses: '{{#label}} must be addresses and CIDRs, separated by commas',
  origins:
    '{{#label}} must be origins such as https://shop.example, separated by commas and with nothing behind, or *',
});

const NAMES = Object.keys(SCHEMA.describe()['keys'] as object);
const DEFAULTS = new URL('../../config/default.json', import.meta.url);

/**
 * `config/default.json`, over it the file that CONFIG_FILE names, over both the environment. A variable that is set
 * but empty counts as not set.
 * @throws SettingsError
 */
export function loadSettings(environment: NodeJS.ProcessEnv = process.env): Settings {
  const given = environment['CONFIG_FILE'];
  const layers = [readLayer(DEFAULTS), given ? readLayer(given) : {}, fromEnvironment(environment)];
  const { value, error } = SCHEMA.validate(withWorkersCounted(Object.assign({}, ...layers)), {
    abortEarly: false,
    errors: { wrap: { label: false } },
  });
  if (error) throw new SettingsError(onePerName(error.details).map(faultLine));
  return Object.freeze(value);
}

/** A setting that belongs to one value of TLS; under the others it may be there, well-formed, and means nothing. */
function requiredUnder(tls: Settings['TLS'], schema: Joi.StringSchema): Joi.StringSchema {
  const meaningless = Joi.optional().allow('').default('');
  return schema.required().when('TLS', { is: tls, otherwise: meaningless });
}

/** The variables that make {@link loadSettings} give the same settings in another process, whatever a file says by then. */
export function toEnvironment(settings: Settings): Record<string, string> {
  const variables = Object.entries(settings).map(([name, value]) => [name, String(value)]);
  return { ...Object.fromEntries(variables), CONFIG_FILE: '' };
}

function withWorkersCounted(given: { WORKERS?: unknown }): object {
  if (given.WORKERS !== 'auto') return given;
  return { ...given, WORKERS: Math.min(availableParallelism(), MAX_WORKERS) };
}

function readLayer(file: string | URL): object {
  let layer: unknown;
  try {
    layer = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // The parser's own message would quote the file, secrets and all.
    throw new SettingsError([`CONFIG_FILE: ${file} cannot be read, or is no JSON`]);
  }
  if (typeof layer === 'object' && layer !== null && !Array.isArray(layer)) return layer;
  throw new SettingsError([`CONFIG_FILE: ${file} holds no JSON object`]);
}

function fromEnvironment(environment: NodeJS.ProcessEnv): object {
  const set = NAMES.filter((name) => environment[name] !== undefined && environment[name] !== '');
  return Object.fromEntries(set.map((name) => [name, environment[name]]));
}

function onePerName(details: readonly Joi.ValidationErrorItem[]): Joi.ValidationErrorItem[] {
  return details.filter((detail, at) => details.findIndex(({ path }) => path[0] === detail.path[0]) === at);
}

function faultLine({ type, message, path }: Joi.ValidationErrorItem): string {
  return type === 'object.unknown' ? `${path.join('.')}: there is no setting of this name` : message;
}
