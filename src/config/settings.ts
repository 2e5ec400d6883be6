import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type Joi from 'joi';
import { MAX_WORKERS, SETTINGS_SCHEMA, type Settings } from './settings-schema.js';

export type { Settings, StoreName } from './settings-schema.js';

/** The settings are invalid. There is one issue per line, without values that may be secret. */
export class SettingsError extends Error {
  constructor(readonly issues: readonly string[]) {
    super(issues.join('\n'));
  }
}

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

/** A setting as joi describes it. */
interface JoiDescription {
  readonly type: string;
  readonly flags: { readonly description?: string; readonly default?: unknown; readonly only?: boolean };
  readonly allow?: readonly unknown[];
  readonly metas?: readonly { readonly default?: string; readonly values?: readonly string[] }[];
  readonly rules?: readonly { readonly name: string; readonly args?: { readonly limit?: number } }[];
}

const JOI_DESCRIPTIONS = SETTINGS_SCHEMA.describe()['keys'] as Readonly<Record<string, JoiDescription>>;
const DEFAULTS = new URL('../../config/default.json', import.meta.url);
const PORT_RANGE = { minimum: 0, maximum: 65_535 };

/** All settings in the order of the schema, except CONFIG_FILE, which names a file of settings. */
export function describeSettings(): SettingDescription[] {
  const defaults = readLayer(DEFAULTS) as Readonly<Record<string, unknown>>;
  return Object.entries(JOI_DESCRIPTIONS).map(
    ([name, { type, flags, allow = [], metas = [], rules = [] }]) => {
      const meta = Object.assign({}, ...metas) as { default?: string; values?: readonly string[] };
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
    },
  );
}

/**
 * Reads `config/default.json`, then the file that CONFIG_FILE names, then the environment. Each overrides the ones
 * before it. An empty environment variable counts as not set.
 * @throws SettingsError
 */
export function loadSettings(environment: NodeJS.ProcessEnv = process.env): Settings {
  const file = environment['CONFIG_FILE'];
  const layers = [readLayer(DEFAULTS), file ? readLayer(file) : {}, fromEnvironment(environment)];
  const { value, error } = SETTINGS_SCHEMA.validate(withWorkersCounted(Object.assign({}, ...layers)), {
    abortEarly: false,
    errors: { wrap: { label: false } },
  });
  if (error) throw new SettingsError(onePerName(error.details).flatMap(issueLines));
  return Object.freeze(value);
}

/** The first descriptor that a supervisor passes (sd_listen_fds(3)). */
const PASSED_DESCRIPTOR = 3;

/**
 * Returns the descriptor of the listening socket that a supervisor such as systemd passes instead of HOST and PORT.
 * @param pid the process for which it is meant; variables for another process are ignored
 * @throws SettingsError if it passes several
 */
export function passedSocket(pid: number, environment: NodeJS.ProcessEnv = process.env): number | undefined {
  const { LISTEN_PID, LISTEN_FDS } = environment;
  if (LISTEN_FDS === undefined || LISTEN_PID !== String(pid)) return undefined;
  if (LISTEN_FDS !== '1')
    throw new SettingsError([`LISTEN_FDS is ${LISTEN_FDS}: pass one socket, for HTTPS`]);
  return PASSED_DESCRIPTOR;
}

/** What a command needs as a client of a running service. */
export interface ClientSettings {
  /** A bearer token (RFC 6750 section 2.1): an API key or an access token. */
  readonly token: string;
  /** A file of CAs to trust, in PEM. */
  readonly extraCaFile: string | undefined;
}

/**
 * Reads API_KEY and NODE_EXTRA_CA_CERTS from the environment. An empty variable counts as not set.
 * @throws SettingsError
 */
export function loadClientSettings(environment: NodeJS.ProcessEnv = process.env): ClientSettings {
  const { API_KEY: token = '', NODE_EXTRA_CA_CERTS: extraCaFile } = environment;
  if (token === '') throw new SettingsError(['API_KEY is not set: it is the API key of a running service']);
  if (!/^[A-Za-z0-9._~+/-]+=*$/.test(token))
    throw new SettingsError(['API_KEY must be an API key or an access token']);
  return { token, extraCaFile: extraCaFile || undefined };
}

/** Returns environment variables with which {@link loadSettings} returns the same settings in another process. */
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
    // The parser's own message would quote the file, secrets included.
    throw new SettingsError([`CONFIG_FILE: ${file} cannot be read, or is no JSON`]);
  }
  if (typeof layer === 'object' && layer !== null && !Array.isArray(layer)) return layer;
  throw new SettingsError([`CONFIG_FILE: ${file} holds no JSON object`]);
}

function fromEnvironment(environment: NodeJS.ProcessEnv): object {
  const names = Object.keys(JOI_DESCRIPTIONS);
  const set = names.filter((name) => environment[name] !== undefined && environment[name] !== '');
  return Object.fromEntries(set.map((name) => [name, environment[name]]));
}

function onePerName(details: readonly Joi.ValidationErrorItem[]): Joi.ValidationErrorItem[] {
  return details.filter((detail, at) => details.findIndex(({ path }) => path[0] === detail.path[0]) === at);
}

/** A setting that is a list can have several issues. */
function issueLines({ type, message, path }: Joi.ValidationErrorItem): string[] {
  return type === 'object.unknown'
    ? [`${path.join('.')}: there is no setting of this name`]
    : message.split('\n');
}
