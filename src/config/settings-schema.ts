import Joi from 'joi';
import { STORES, type StoreName, type StoreSettings, type Stores } from '../composition/stores/index.js';
import { serverUrl } from '../composition/stores/registration.js';
import { defaultValues } from './settings-layers.js';
import type { Secrecy } from './shown-value.js';
import { addressList, apiKey, issuerUrl, nameList, originList, ownPort, publicUrl, redisUrl } from './validators.js';

/** The validated settings. An optional text that is not set is empty. */
export type Settings = StoreSettings & {
  readonly [Name in keyof Schemas]: Schemas[Name] extends Joi.AnySchema<infer Value> ? Value : never;
};

type Schemas = ReturnType<typeof schemas>;

const YEAR_SECONDS = 31_536_000;
export const MAX_WORKERS = 64;

/** In the order of the documentation, which shows the meta value `default` instead of a computed default. */
export function settingsSchema(stores: Stores): Joi.ObjectSchema<Settings> {
  return Joi.object<Settings>(schemas(stores)).messages({
    names: '{{#lines}}',
    addresses: '{{#label}} must be addresses and CIDRs, separated by commas',
    origins: '{{#label}} must be origins such as https://shop.example, separated by commas and without a path, or *',
  });
}

function schemas(stores: Stores) {
  const singles = Object.keys(stores).filter((name) => stores[name]?.processes === 'one');
  return {
    HOST: host(
      'The address on which the service listens; `localhost` is both 127.0.0.1 and ::1, where the machine has them.',
    ),
    PORT: port('The port on which the service listens; 0 takes any free port.'),
    MANAGEMENT_HOST: host('The address on which probes and Prometheus reach the service in plain HTTP.'),
    MANAGEMENT_PORT: port(
      'The port of `/health/live`, `/health/ready` and `/metrics` in plain HTTP; 0 takes any free port.',
    )
      .custom(ownPort)
      .messages({
        'any.invalid':
          'MANAGEMENT_PORT and PORT name one port, and the service listens on two; choose another for one of them',
      }),
    DATA_DIR: Joi.string()
      .required()
      .description('The folder of certificates, unread import results and, unless `SQLITE_FILE` is set, the database.'),
    STORE: oneOf(
      Object.keys(stores) as StoreName[],
      'The database; `memory` forgets everything when the process ends.',
    ),
    ...settingsOf(stores),
    STORE_START_TIMEOUT_SECONDS: integer(
      1,
      86_400,
      'How long the start waits for the store, in seconds, before it ends with exit code 75.',
    ),
    BOOTSTRAP_API_KEY: optional(
      apiKey,
      'A well-formed API key that becomes the first key of a new store, instead of a generated one.',
    )
      .meta({ secrecy: 'all' })
      .default('')
      .messages({
        'any.invalid': 'BOOTSTRAP_API_KEY must be a well-formed key, as catalogue keys generate prints one',
      }),
    PUBLIC_URL: optional(
      publicUrl,
      'The address under which clients know the service, without a slash at the end; the same for all replicas.',
    )
      .default('')
      .meta({ default: 'https://localhost:PORT' })
      .messages({
        'any.invalid':
          'PUBLIC_URL must be https://HOST, perhaps with a port and a path, in its normal form and with no slash at the end',
      }),
    OAUTH_ISSUER: optional(
      issuerUrl,
      'The OAuth 2.0 server whose access tokens are accepted, exactly as their `iss` names it: an https address, or ' +
        'an http address of this machine.',
    )
      .default('')
      .messages({
        'issuer.own': 'OAUTH_ISSUER must be another than this service itself, whose own tokens are taken anyway',
        'any.invalid': 'OAUTH_ISSUER must be an https:// address without query or fragment, or http:// of this machine',
      }),
    OAUTH_AUDIENCE: Joi.string()
      .default('')
      .when('OAUTH_ISSUER', { not: '', then: Joi.required(), otherwise: Joi.optional().allow('') })
      .messages({ 'any.required': 'OAUTH_AUDIENCE is required by OAUTH_ISSUER' })
      .description('The value that `aud` of those tokens must contain, required with `OAUTH_ISSUER`.'),
    PUBLIC_READ: oneOf(['', 'products'], 'The resource that can be read without a token, if any.'),
    PUBLIC_MAX_AGE: integer(0, YEAR_SECONDS, 'How long caches may keep a public response, in seconds.'),
    QUERY_TIMEOUT_MS: integer(1, 600_000, 'How long a list or count that no index serves may take, in milliseconds.'),
    REQUIRE_IF_MATCH: Joi.boolean()
      .required()
      .description(
        'Whether changes of a record without `If-Match`, or in an import without `version`, are refused with 428.',
      ),
    CHANGES: oneOf(
      ['on', 'off'],
      'Whether changes are recorded and shown at `/changes`, for all processes of the store alike; after a time with ' +
        '`off`, all cursors of changes are expired.',
    ),
    RATE_LIMITER: oneOf(
      ['memory', 'redis'],
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
    RATE_LIMIT_REQUESTS: integer(
      1,
      1_000_000_000,
      'How many requests one principal, or one address without a credential, may send in one window.',
    ),
    RATE_LIMIT_WINDOW_SECONDS: integer(1, 86_400, 'The length of that window, in seconds.'),
    BODY_LIMIT_BYTES: integer(
      1_024,
      134_217_728,
      'The largest request body, and the largest line of an import, in bytes.',
    ),
    CORS_ORIGINS: optional(
      originList,
      'The origins whose scripts may use the service, in lower case and separated by commas, or `*` for any origin.',
    ).required(),
    WEBHOOK_NETWORKS: optional(
      addressList,
      'The addresses and CIDRs, separated by commas, to which webhooks may be sent though they are not public.',
    ).required(),
    TLS: oneOf(
      ['self-signed', 'files', 'proxy'],
      'Where the certificate comes from: `self-signed` makes a local CA and a certificate for localhost, `files` ' +
        'reads your own, and `proxy` serves plain HTTP to a proxy that ends TLS.',
    ),
    TLS_CERT_FILE: requiredUnder('files', Joi.string()).description(
      'The certificate and its chain in PEM, required with `TLS=files`; it is read again when it changes.',
    ),
    TLS_KEY_FILE: requiredUnder('files', Joi.string()).description(
      'The private key of that certificate in PEM, required with `TLS=files`.',
    ),
    TLS_NAMES: optional(
      nameList,
      'Host names in ASCII and addresses, separated by commas and without wildcards, that the self-signed certificate ' +
        'holds besides `localhost`, `127.0.0.1`, `::1` and the host of `PUBLIC_URL`.',
    ).required(),
    TRUSTED_PROXIES: requiredUnder('proxy', Joi.string().custom(addressList)).description(
      'The addresses and CIDRs of the proxies, separated by commas, required with `TLS=proxy`; a request is served only ' +
        'if it comes from one of them with `X-Forwarded-Proto: https`.',
    ),
    WORKERS: integer(
      1,
      MAX_WORKERS,
      'The number of processes that share the port and the rate limits, or `auto` for one per core; more than 1 needs ' +
        `a \`STORE\` other than ${singles.map((name) => `\`${name}\``).join(' and ')}.`,
    )
      .when('STORE', {
        is: Joi.valid(...singles),
        then: Joi.number().max(1).messages({
          'number.max': 'WORKERS must be 1 with STORE={{STORE}}, which only one process can open',
        }),
      })
      .meta({ values: ['auto'] }),
    SHUTDOWN_GRACE_SECONDS: integer(
      0,
      3_600,
      'How long running requests, and then the reader of the log, may take after the service is told to stop, in seconds.',
    ),
    LOG_LEVEL: oneOf(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'The least severe log lines that are written.',
    ),
    LOG_FORMAT: oneOf(
      ['auto', 'json', 'text'],
      'The form of log lines: `json`, `text` for people, or `auto`: `text` on a terminal, else `json`.',
    ),
  };
}

function host(description: string): Joi.StringSchema {
  return Joi.string().hostname().required().description(description);
}

function port(description: string): Joi.NumberSchema {
  return Joi.number().port().required().description(description);
}

function integer(min: number, max: number, description: string): Joi.NumberSchema {
  return Joi.number().integer().min(min).max(max).required().description(description);
}

function oneOf<const Value extends string>(values: readonly Value[], description: string): Joi.StringSchema<Value> {
  return Joi.string<Value>()
    .valid(...values)
    .required()
    .description(description);
}

/** A text that may be empty. */
function optional(rule: Joi.CustomValidator<string>, description: string): Joi.StringSchema {
  return Joi.string().allow('').custom(rule).description(description);
}

/** A setting that one value of TLS requires. Under the others it may be set, must be well-formed and is ignored. */
function requiredUnder(tls: string, schema: Joi.StringSchema): Joi.StringSchema {
  const ignored = Joi.optional().allow('').default('');
  return schema
    .required()
    .when('TLS', { is: tls, otherwise: ignored })
    .messages({ 'any.required': `{{#label}} is required by TLS=${tls}` });
}

function settingsOf(stores: Stores): Readonly<Record<keyof StoreSettings, Joi.StringSchema>> {
  return Object.assign({}, ...Object.values(stores).map(({ settings }) => settings));
}

export const SETTINGS_SCHEMA = settingsSchema(STORES);

/** One setting, as the documentation shows it. */
export interface SettingDescription {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean';
  /** The allowed values. With `minimum` and `maximum`: those that are not numbers. Empty: any value of the type. */
  readonly values: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  /** Empty: no default. */
  readonly default: string;
  /** One sentence in Markdown. */
  readonly description: string;
}

interface SettingMeta {
  readonly default?: string;
  readonly values?: readonly string[];
  readonly secrecy?: Secrecy;
}

interface JoiDescription {
  readonly type: string;
  readonly flags: { readonly description?: string; readonly default?: unknown; readonly only?: boolean };
  readonly allow?: readonly unknown[];
  readonly metas?: readonly SettingMeta[];
  readonly rules?: readonly { readonly name: string; readonly args?: { readonly limit?: number } }[];
}

/** In the order of the schema, without CONFIG_FILE. */
export const SETTING_NAMES: readonly string[] = SETTINGS_SCHEMA.$_terms['keys'].map(
  ({ key }: { readonly key: string }) => key,
);

/** Made when somebody asks: a start asks for names alone. */
let descriptions: Readonly<Record<string, JoiDescription>> | undefined;

const PORT_RANGE = { minimum: 0, maximum: 65_535 };

/** All settings in the order of the schema, except CONFIG_FILE, which names a file of settings. */
export function describeSettings(schema = SETTINGS_SCHEMA): SettingDescription[] {
  const defaults = defaultValues();
  return Object.entries(descriptionsIn(schema)).map(([name, { type, flags, allow = [], metas = [], rules = [] }]) => {
    const meta: SettingMeta = Object.assign({}, ...metas);
    const limit = (rule: string) => rules.find((one) => one.name === rule)?.args?.limit;
    const [minimum, maximum] = [limit('min'), limit('max')];
    return {
      name,
      type: type === 'number' ? 'integer' : (type as 'string' | 'boolean'),
      values: meta.values ?? (flags.only ? allow.map(String).filter(Boolean) : []),
      ...(rules.some((rule) => rule.name === 'port') && PORT_RANGE),
      ...(minimum !== undefined && { minimum }),
      ...(maximum !== undefined && { maximum }),
      default: meta.default ?? String(defaults[name] ?? ''),
      description: flags.description ?? '',
    };
  });
}

function descriptionsIn(schema: Joi.ObjectSchema): Readonly<Record<string, JoiDescription>> {
  return schema.describe()['keys'];
}

/** What the schema says of a setting besides its type. Empty for a name that it lacks. */
export function metaOf(name: string): SettingMeta {
  descriptions ??= descriptionsIn(SETTINGS_SCHEMA);
  const metas = Object.hasOwn(descriptions, name) ? (descriptions[name]?.metas ?? []) : [];
  return Object.assign({}, ...metas);
}
