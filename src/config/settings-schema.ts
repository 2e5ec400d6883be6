import { STORES, type StoreName, type StoreSettings, type Stores } from '../composition/stores/index.js';
import { isWellFormedKey } from '../shared/api-key-format.js';
import type { Setting, TextSetting } from '../shared/setting.js';
import {
  addressIssue,
  hostIssue,
  isPublicUrl,
  isRedisUrl,
  issuerIssue,
  namesIssue,
  normalizedNames,
  originIssue,
  portIssue,
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

/** In the order of the documentation. */
export function settingsSchema(stores: Stores): Readonly<Record<string, Setting>> {
  const singles = Object.keys(stores).filter((name) => stores[name]?.processes === 'one');
  return {
    HOST: {
      type: 'text',
      issue: hostIssue('HOST'),
      description:
        'The address on which the service listens; `localhost` is both 127.0.0.1 and ::1, where the machine has them.',
    },
    PORT: integer(0, 65_535, 'The port on which the service listens; 0 takes any free port.'),
    MANAGEMENT_HOST: {
      type: 'text',
      issue: hostIssue('MANAGEMENT_HOST'),
      description: 'The address on which probes and Prometheus reach the service in plain HTTP.',
    },
    MANAGEMENT_PORT: {
      ...integer(
        0,
        65_535,
        'The port of `/health/live`, `/health/ready` and `/metrics` in plain HTTP; 0 takes any free port.',
      ),
      issue: portIssue,
    },
    DATA_DIR: {
      type: 'text',
      description:
        'The folder of certificates, unread import results and, unless `SQLITE_FILE` is set, the database.',
    },
    STORE: choice(Object.keys(stores), 'The database; `memory` forgets everything when the process ends.'),
    ...settingsOf(stores),
    STORE_START_TIMEOUT_SECONDS: integer(
      1,
      86_400,
      'How long the start waits for the store, in seconds, before it ends with exit code 75.',
    ),
    BOOTSTRAP_API_KEY: {
      type: 'text',
      absent: '',
      secrecy: 'all',
      issue: otherwise(
        isWellFormedKey,
        'BOOTSTRAP_API_KEY must be a well-formed key, as catalogue keys generate prints one',
      ),
      description:
        'A well-formed API key that becomes the first key of a new store, instead of a generated one.',
    },
    PUBLIC_URL: {
      type: 'text',
      absent: '',
      formula: 'https://localhost:PORT',
      issue: otherwise(
        isPublicUrl,
        'PUBLIC_URL must be https://HOST, perhaps with a port and a path, in its normal form and with no slash at the end',
      ),
      description:
        'The address under which clients know the service, without a slash at the end; the same for all replicas.',
    },
    OAUTH_ISSUER: {
      type: 'text',
      absent: '',
      issue: issuerIssue,
      description:
        'The OAuth 2.0 server whose access tokens are accepted, exactly as their `iss` names it: an https address, or ' +
        'an http address of this machine.',
    },
    OAUTH_AUDIENCE: {
      type: 'text',
      absent: '',
      requiredBy: { name: 'OAUTH_ISSUER' },
      description: 'The value that `aud` of those tokens must contain, required with `OAUTH_ISSUER`.',
    },
    PUBLIC_READ: {
      ...choice(['products'], 'The resource that can be read without a token, if any.'),
      absent: '',
    },
    PUBLIC_MAX_AGE: integer(0, YEAR_SECONDS, 'How long caches may keep a public response, in seconds.'),
    QUERY_TIMEOUT_MS: integer(
      1,
      600_000,
      'How long a list or count that no index serves may take, in milliseconds.',
    ),
    REQUIRE_IF_MATCH: {
      type: 'boolean',
      description:
        'Whether changes of a record without `If-Match`, or in an import without `version`, are refused with 428.',
    },
    CHANGES: choice(
      SWITCH,
      'Whether changes are recorded and shown at `/changes`, for all processes of the store alike; after a time with ' +
        '`off`, all cursors of changes are expired.',
    ),
    RATE_LIMITER: choice(
      RATE_LIMITER_NAMES,
      'Where requests are counted: `memory` for one machine, `redis` for all replicas together.',
    ),
    REDIS_URL: {
      type: 'text',
      absent: '',
      secrecy: 'url',
      requiredBy: { name: 'RATE_LIMITER', value: 'redis' },
      issue: otherwise(isRedisUrl, 'REDIS_URL must be redis://HOST:PORT/DATABASE, or rediss://… for TLS'),
      description:
        'The address of Redis as `redis://HOST:PORT/DATABASE`, or `rediss://…` for TLS, required with `RATE_LIMITER=redis`.',
    },
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
    CORS_ORIGINS: {
      type: 'text',
      absent: '',
      issue: originIssue('CORS_ORIGINS'),
      description:
        'The origins whose scripts may use the service, in lower case and separated by commas, or `*` for any origin.',
    },
    WEBHOOK_NETWORKS: {
      type: 'text',
      absent: '',
      issue: addressIssue('WEBHOOK_NETWORKS'),
      description:
        'The addresses and CIDRs, separated by commas, to which webhooks may be sent though they are not public.',
    },
    TLS: choice(
      TLS_MODES,
      'Where the certificate comes from: `self-signed` makes a local CA and a certificate for localhost, `files` ' +
        'reads your own, and `proxy` serves plain HTTP to a proxy that ends TLS.',
    ),
    TLS_CERT_FILE: {
      type: 'text',
      absent: '',
      requiredBy: { name: 'TLS', value: 'files' },
      description:
        'The certificate and its chain in PEM, required with `TLS=files`; it is read again when it changes.',
    },
    TLS_KEY_FILE: {
      type: 'text',
      absent: '',
      requiredBy: { name: 'TLS', value: 'files' },
      description: 'The private key of that certificate in PEM, required with `TLS=files`.',
    },
    TLS_NAMES: {
      type: 'text',
      absent: '',
      issue: namesIssue,
      normalized: normalizedNames,
      description:
        'Host names in ASCII and addresses, separated by commas and without wildcards, that the self-signed certificate ' +
        'holds besides `localhost`, `127.0.0.1`, `::1` and the host of `PUBLIC_URL`.',
    },
    TRUSTED_PROXIES: {
      type: 'text',
      absent: '',
      requiredBy: { name: 'TLS', value: 'proxy' },
      issue: addressIssue('TRUSTED_PROXIES'),
      description:
        'The addresses and CIDRs of the proxies, separated by commas, required with `TLS=proxy`; a request is served only ' +
        'if it comes from one of them with `X-Forwarded-Proto: https`.',
    },
    WORKERS: {
      ...integer(
        1,
        MAX_WORKERS,
        'The number of processes that share the port and the rate limits, or `auto` for one per core; more than 1 needs ' +
          `a \`STORE\` other than ${singles.map((name) => `\`${name}\``).join(' and ')}.`,
      ),
      values: ['auto'],
      issue: (workers: number, { STORE }) =>
        workers > 1 && singles.includes(String(STORE))
          ? `WORKERS must be 1 with STORE=${STORE}, which only one process can open`
          : undefined,
    },
    SHUTDOWN_GRACE_SECONDS: integer(
      0,
      3_600,
      'How long running requests, and then the reader of the log, may take after the service is told to stop, in seconds.',
    ),
    LOG_LEVEL: choice(LOG_LEVELS, 'The least severe log lines that are written.'),
    LOG_FORMAT: choice(
      LOG_FORMATS,
      'The form of log lines: `json`, `text` for people, or `auto`: `text` on a terminal, else `json`.',
    ),
  } satisfies Readonly<Record<Exclude<keyof Settings, keyof StoreSettings>, Setting>>;
}

export const SETTINGS = settingsSchema(STORES);

function settingsOf(stores: Stores): Readonly<Record<keyof StoreSettings, TextSetting>> {
  return Object.assign({}, ...Object.values(stores).map(({ settings }) => settings));
}

function integer(minimum: number, maximum: number, description: string): Setting {
  return { type: 'integer', minimum, maximum, description };
}

function choice(values: readonly string[], description: string): TextSetting {
  return { type: 'text', values, description };
}

/** The issue of a text that is not as it must be. */
function otherwise(isValid: (text: string) => boolean, issue: string): NonNullable<TextSetting['issue']> {
  return (text) => (isValid(text) ? undefined : issue);
}
