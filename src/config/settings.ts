import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type Joi from 'joi';
import { escapeControls } from '../shared/escape-controls.js';
import { systemReason } from '../shared/system-reason.js';
import { MAX_WORKERS, SETTINGS_SCHEMA, type Settings } from './settings-schema.js';
import { maskedText, type Secrecy, shownValue } from './shown-value.js';
import { closestName, misspeltNames } from './similar-names.js';

export type { Settings, StoreName } from './settings-schema.js';

/** The settings are invalid. There is one issue per line, without secrets. */
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

interface SettingMeta {
  readonly default?: string;
  readonly values?: readonly string[];
  readonly secrecy?: Secrecy;
}

/** A setting as joi describes it. */
interface JoiDescription {
  readonly type: string;
  readonly flags: { readonly description?: string; readonly default?: unknown; readonly only?: boolean };
  readonly allow?: readonly unknown[];
  readonly metas?: readonly SettingMeta[];
  readonly rules?: readonly { readonly name: string; readonly args?: { readonly limit?: number } }[];
}

const JOI_DESCRIPTIONS = SETTINGS_SCHEMA.describe()['keys'] as Readonly<Record<string, JoiDescription>>;
const DEFAULTS = new URL('../../config/default.json', import.meta.url);
const PORT_RANGE = { minimum: 0, maximum: 65_535 };

/** All settings in the order of the schema, except CONFIG_FILE, which names a file of settings. */
export function describeSettings(): SettingDescription[] {
  const defaults = readLayer(DEFAULTS);
  return Object.entries(JOI_DESCRIPTIONS).map(
    ([name, { type, flags, allow = [], metas = [], rules = [] }]) => {
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
    },
  );
}

/** A setting as `catalogue config` shows it. */
export interface ExplainedSetting {
  readonly name: string;
  /** Without secrets. */
  readonly value: string | number | boolean;
  /** `default`, `file NAME`, `environment`, or `computed` from other settings. */
  readonly source: string;
}

export interface ExplainedSettings {
  readonly settings: readonly ExplainedSetting[];
  /** One line per problem. Not empty: the values are those that were given. */
  readonly issues: readonly string[];
}

/**
 * Reads `config/default.json`, then the file that CONFIG_FILE names, then the environment. Each overrides the ones
 * before it. An empty environment variable counts as not set.
 * @throws SettingsError
 */
export function loadSettings(environment: NodeJS.ProcessEnv = process.env): Settings {
  const { value, issues } = validated(readLayers(environment));
  if (issues.length > 0) throw new SettingsError(issues);
  return Object.freeze(value as Settings);
}

/** Returns the settings that {@link loadSettings} would return, each with its source, and all problems. */
export function explainSettings(environment: NodeJS.ProcessEnv = process.env): ExplainedSettings {
  const layers = readLayers(environment);
  const { value, issues } = validated(layers);
  const effective: Readonly<Record<string, unknown>> =
    issues.length > 0 ? given(layers) : { ...(value as object) };
  const settings = Object.keys(JOI_DESCRIPTIONS).map((name) => {
    const from = layers.layers.findLast(({ values }) => values[name] !== undefined);
    const computed = from ? undefined : computedValue(name, effective);
    const source = computed === undefined ? (from?.source ?? 'default') : 'computed';
    const isResolved = from?.values[name] === 'auto' && effective[name] !== 'auto';
    const note = isResolved ? `${source}: auto` : source;
    return { name, value: shownSetting(name, computed ?? effective[name] ?? ''), source: note };
  });
  const file = environment['CONFIG_FILE'];
  const first = {
    name: 'CONFIG_FILE',
    value: shownValue(file ?? ''),
    source: file ? 'environment' : 'default',
  };
  return { settings: [first, ...settings], issues };
}

/**
 * Returns a warning for each environment variable that is probably a misspelt setting. It has no effect, and nothing
 * else would say so.
 */
export function unknownVariables(environment: NodeJS.ProcessEnv = process.env): string[] {
  const known = [...Object.keys(JOI_DESCRIPTIONS), 'CONFIG_FILE'];
  return misspeltNames(environment, known).map(
    ([name, meant]) =>
      `the environment variable ${shownValue(name)} is no setting and has no effect; is ${meant} meant?`,
  );
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

interface Layers {
  readonly layers: readonly { readonly source: string; readonly values: Readonly<Record<string, unknown>> }[];
  readonly issues: readonly string[];
}

function readLayers(environment: NodeJS.ProcessEnv): Layers {
  const file = environment['CONFIG_FILE'];
  const issues: string[] = [];
  const layers = [{ source: 'default', values: readLayer(DEFAULTS) }];
  if (file) {
    try {
      layers.push({ source: `file ${shownValue(file)}`, values: readLayer(file) });
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      issues.push(...error.issues);
    }
  }
  return { layers: [...layers, { source: 'environment', values: fromEnvironment(environment) }], issues };
}

function given({ layers }: Layers): Record<string, unknown> {
  return Object.assign({}, ...layers.map(({ values }) => values));
}

function validated(layers: Layers): { readonly value: unknown; readonly issues: readonly string[] } {
  const values = given(layers);
  const { value, error } = SETTINGS_SCHEMA.validate(withWorkersCounted(values), {
    abortEarly: false,
    errors: { wrap: { label: false } },
  });
  const details = onePerName(error?.details ?? []);
  return { value, issues: [...layers.issues, ...details.flatMap((detail) => issueLines(detail, values))] };
}

function withWorkersCounted(values: { WORKERS?: unknown }): object {
  if (values.WORKERS !== 'auto') return values;
  return { ...values, WORKERS: Math.min(availableParallelism(), MAX_WORKERS) };
}

/** The value that follows from other settings, whose names its description in the schema has. */
function computedValue(name: string, values: Readonly<Record<string, unknown>>): unknown {
  const formula = metaOf(name).default;
  return formula && (values[name] || formula.replaceAll(/[A-Z_]{2,}/g, (other) => String(values[other])));
}

function shownSetting(name: string, value: unknown): ExplainedSetting['value'] {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  return escapeControls(
    maskedText(typeof value === 'string' ? value : JSON.stringify(value), secrecyOf(name)),
  );
}

function secrecyOf(name: string): Secrecy | undefined {
  return metaOf(name).secrecy;
}

function metaOf(name: string): SettingMeta {
  const metas = Object.hasOwn(JOI_DESCRIPTIONS, name) ? (JOI_DESCRIPTIONS[name]?.metas ?? []) : [];
  return Object.assign({}, ...metas);
}

function readLayer(file: string | URL): Readonly<Record<string, unknown>> {
  const layer = parsed(file, textOf(file));
  if (typeof layer === 'object' && layer !== null && !Array.isArray(layer))
    return layer as Readonly<Record<string, unknown>>;
  throw new SettingsError([`CONFIG_FILE: ${shownFile(file)} holds no JSON object`]);
}

function textOf(file: string | URL): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new SettingsError([`CONFIG_FILE: ${shownFile(file)} cannot be read: ${systemReason(error)}`]);
  }
}

function parsed(file: string | URL, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's own message would quote the file, secrets included.
    const [where] = /line \d+ column \d+/.exec((error as Error).message) ?? [];
    throw new SettingsError([
      `CONFIG_FILE: ${shownFile(file)} is not valid JSON${where ? `, ${where}` : ''}`,
    ]);
  }
}

function shownFile(file: string | URL): string {
  return shownValue(String(file));
}

function fromEnvironment(environment: NodeJS.ProcessEnv): Record<string, unknown> {
  const names = Object.keys(JOI_DESCRIPTIONS);
  const set = names.filter((name) => environment[name] !== undefined && environment[name] !== '');
  return Object.fromEntries(set.map((name) => [name, environment[name]]));
}

function onePerName(details: readonly Joi.ValidationErrorItem[]): Joi.ValidationErrorItem[] {
  return details.filter((detail, at) => details.findIndex(({ path }) => path[0] === detail.path[0]) === at);
}

/** The errors of joi whose own words do not say what is allowed. */
const PLAIN_ERRORS = /^(any\.only|boolean\.base|number\.\w+)$/;

/** A setting that is a list can have several issues. */
function issueLines(detail: Joi.ValidationErrorItem, values: Readonly<Record<string, unknown>>): string[] {
  const name = detail.path.join('.');
  if (detail.type === 'object.unknown') return [unknownName(name)];
  const value = values[name];
  if (value === undefined || value === '') return detail.message.split('\n');
  const lines = wordsOf(name, detail).split('\n');
  // Each line about a list quotes the element that it is about.
  if (detail.type === 'names') return lines;
  return lines.map((line) => `${line}; it is "${shownValue(value, secrecyOf(name))}"`);
}

function unknownName(name: string): string {
  const meant = closestName(name, Object.keys(JOI_DESCRIPTIONS));
  return `${shownValue(name)}: there is no setting of this name${meant ? `; is ${meant} meant?` : ''}`;
}

function wordsOf(name: string, { type, message, context }: Joi.ValidationErrorItem): string {
  const setting = describeSettings().find((one) => one.name === name);
  const limit = context?.['limit'];
  const isOfAll =
    limit === undefined || limit === (type === 'number.max' ? setting?.maximum : setting?.minimum);
  return setting && isOfAll && PLAIN_ERRORS.test(type) ? `${name} must be ${allowedIn(setting)}` : message;
}

/** What a setting may be, for a person: `a whole number from 1 to 64, or auto`. */
function allowedIn({ type, values, minimum, maximum }: SettingDescription): string {
  if (type === 'boolean') return 'true or false';
  if (type === 'integer') {
    const range = `a whole number from ${minimum?.toLocaleString('en')} to ${maximum?.toLocaleString('en')}`;
    return [range, ...values].join(', or ');
  }
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(values);
}
