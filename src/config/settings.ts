import { availableParallelism } from 'node:os';
import { readProgramFile } from '../shared/program.js';
import { escapeControls } from '../shared/shown-text.js';
import { issueLines, misspeltNames } from './settings-issues.js';
import { given, type Layers, readLayers, SettingsError } from './settings-layers.js';
import { MAX_WORKERS, metaOf, SETTING_NAMES, SETTINGS_SCHEMA, type Settings } from './settings-schema.js';
import { maskedText, shownValue } from './shown-value.js';

export { SettingsError } from './settings-layers.js';
export type { Settings } from './settings-schema.js';

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
  const { value, issues } = validated(readLayers(environment, SETTING_NAMES));
  if (issues.length > 0) throw new SettingsError(issues);
  return Object.freeze(value as Settings);
}

/** Returns the settings that {@link loadSettings} would return, each with its source, and all problems. */
export function explainSettings(environment: NodeJS.ProcessEnv = process.env): ExplainedSettings {
  const layers = readLayers(environment, SETTING_NAMES);
  const { value, issues } = validated(layers);
  const effective: Readonly<Record<string, unknown>> = issues.length > 0 ? given(layers) : { ...(value as object) };
  const settings = SETTING_NAMES.map((name) => {
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
  const known = [...SETTING_NAMES, 'CONFIG_FILE'];
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
    throw new SettingsError([`LISTEN_FDS is "${shownValue(LISTEN_FDS)}": pass one socket, for HTTPS`]);
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
  if (!/^[A-Za-z0-9._~+/-]+=*$/.test(token)) throw new SettingsError(['API_KEY must be an API key or an access token']);
  return { token, extraCaFile: extraCaFile || undefined };
}

/** Returns environment variables with which {@link loadSettings} returns the same settings in another process. */
export function toEnvironment(settings: Settings): Record<string, string> {
  const variables = Object.entries(settings).map(([name, value]) => [name, String(value)]);
  return { ...Object.fromEntries(variables), CONFIG_FILE: '' };
}

/** The names that the settings add to the self-signed certificate. */
export function certificateNames({ TLS_NAMES, PUBLIC_URL }: Pick<Settings, 'TLS_NAMES' | 'PUBLIC_URL'>): string[] {
  // Clients compare the name without the dot of an absolute one, and an IPv6 address without its brackets.
  const hosts = PUBLIC_URL ? [new URL(PUBLIC_URL).hostname.replace(/^\[|\]$|\.$/g, '')] : [];
  return [...TLS_NAMES.split(',').filter(Boolean), ...hosts];
}

function validated(layers: Layers): { readonly value: unknown; readonly issues: readonly string[] } {
  const values = given(layers);
  const { value, error } = SETTINGS_SCHEMA.validate(withWorkersCounted(values), {
    abortEarly: false,
    errors: { wrap: { label: false } },
  });
  return { value, issues: [...layers.issues, ...issueLines(error?.details ?? [], values)] };
}

function withWorkersCounted(values: { WORKERS?: unknown }): object {
  if (values.WORKERS !== 'auto') return values;
  return { ...values, WORKERS: Math.min(availableParallelism(), MAX_WORKERS) };
}

/** The default, computed from other settings (named in the schema). */
function computedValue(name: string, values: Readonly<Record<string, unknown>>): unknown {
  const formula = metaOf(name).default;
  return formula && (values[name] || formula.replaceAll(/[A-Z_]{2,}/g, (other) => String(values[other])));
}

function shownSetting(name: string, value: unknown): ExplainedSetting['value'] {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  return escapeControls(maskedText(typeof value === 'string' ? value : JSON.stringify(value), metaOf(name).secrecy));
}

const PROTOCOLS = ['http/protobuf', 'http/json'] as const;

/** The encodings of OTLP that the service can send. */
export type OtlpProtocol = (typeof PROTOCOLS)[number];

/** What the standard variables of OpenTelemetry ask for. */
export interface TracingSettings {
  /** Undefined: no traces. */
  readonly protocol?: OtlpProtocol;
  /** Why traces are off although a variable asks for them. Quotes no value that may hold a secret. */
  readonly problem?: string;
}

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;

/**
 * Reads whether traces are recorded, and how they are encoded. They are recorded if OTEL_TRACES_EXPORTER is `otlp`, or
 * if it is not set and an endpoint is. An empty variable counts as not set. The SDK reads the other variables itself.
 */
export function loadTracing(environment: NodeJS.ProcessEnv = process.env): TracingSettings {
  const get = (name: string) => environment[name]?.trim() || undefined;
  if (get('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return {};
  const exporter = get('OTEL_TRACES_EXPORTER');
  if (exporter === 'none') return {};
  if (exporter === undefined && !ENDPOINTS.some(get)) return {};
  if (exporter !== undefined && exporter !== 'otlp') return { problem: 'OTEL_TRACES_EXPORTER must be otlp or none' };
  for (const name of ENDPOINTS) {
    const endpoint = get(name);
    if (endpoint !== undefined && !/^https?:$/.test(protocolOf(endpoint)))
      return { problem: `${name} must be an http or https address` };
  }
  const named = get('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? get('OTEL_EXPORTER_OTLP_PROTOCOL');
  const protocol = PROTOCOLS.find((one) => one === (named ?? PROTOCOLS[0]));
  return protocol
    ? { protocol }
    : { problem: `the protocol of OTLP must be ${PROTOCOLS.join(' or ')}; gRPC is not supported` };
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : '';
}

/** The version of the program, from package.json: the only place that has it. */
export function packageVersion(): string {
  return (JSON.parse(readProgramFile('package.json')) as { readonly version: string }).version;
}
