import { readFileSync } from 'node:fs';
import { readProgramFile } from '../shared/program.js';
import { systemReason } from '../shared/shown-text.js';
import { shownValue } from './shown-value.js';

/** The settings are invalid. There is one issue per line, without secrets. */
export class SettingsError extends Error {
  constructor(
    readonly issues: readonly string[],
    options?: ErrorOptions,
  ) {
    super(issues.join('\n'), options);
  }
}

/** The values of `config/default.json`. */
export function defaultValues(): Readonly<Record<string, unknown>> {
  return JSON.parse(readProgramFile('config/default.json'));
}

/** The values of settings by where they are from. A later layer overrides the earlier ones. */
export interface Layers {
  readonly layers: readonly { readonly source: string; readonly values: Readonly<Record<string, unknown>> }[];
  readonly issues: readonly string[];
}

/** @param names of all settings; other variables of the environment are ignored */
export function readLayers(environment: NodeJS.ProcessEnv, names: readonly string[]): Layers {
  const file = environment['CONFIG_FILE'];
  const issues: string[] = [];
  const layers = [{ source: 'default', values: defaultValues() }];
  if (file) {
    try {
      layers.push({ source: `file ${shownValue(file)}`, values: readLayer(file) });
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      issues.push(...error.issues);
    }
  }
  return {
    layers: [...layers, { source: 'environment', values: fromEnvironment(environment, names) }],
    issues,
  };
}

/** Returns the value of each setting as it was given, not validated. */
export function given({ layers }: Layers): Record<string, unknown> {
  // Assigning would set the prototype for the name `__proto__`, which is unknown like others.
  return Object.fromEntries(layers.flatMap(({ values }) => Object.entries(values)));
}

/** @throws SettingsError */
function readLayer(file: string): Readonly<Record<string, unknown>> {
  const layer = parsed(file, textOf(file));
  if (typeof layer === 'object' && layer !== null && !Array.isArray(layer))
    return layer as Readonly<Record<string, unknown>>;
  throw new SettingsError([`CONFIG_FILE: ${shownValue(file)} holds no JSON object`]);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new SettingsError([`CONFIG_FILE: ${shownValue(file)} cannot be read: ${systemReason(error)}`]);
  }
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's own message would quote the file, secrets included.
    const [where] = /line \d+ column \d+/.exec((error as Error).message) ?? [];
    throw new SettingsError([`CONFIG_FILE: ${shownValue(file)} is not valid JSON${where ? `, ${where}` : ''}`]);
  }
}

function fromEnvironment(environment: NodeJS.ProcessEnv, names: readonly string[]): Record<string, unknown> {
  const set = names.filter((name) => environment[name] !== undefined && environment[name] !== '');
  return Object.fromEntries(set.map((name) => [name, environment[name]]));
}
