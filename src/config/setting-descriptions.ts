import type Joi from 'joi';
import { DEFAULTS, readLayer } from './settings-layers.js';
import { SETTINGS_SCHEMA } from './settings-schema.js';
import type { Secrecy } from './shown-value.js';

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

/** In the order of the schema, without CONFIG_FILE. */
export const SETTING_NAMES: readonly string[] = SETTINGS_SCHEMA.$_terms['keys'].map(
  ({ key }: { readonly key: string }) => key,
);

/** Made when somebody asks: a start asks for names alone. */
let descriptions: Readonly<Record<string, JoiDescription>> | undefined;

const PORT_RANGE = { minimum: 0, maximum: 65_535 };

/** All settings in the order of the schema, except CONFIG_FILE, which names a file of settings. */
export function describeSettings(schema = SETTINGS_SCHEMA): SettingDescription[] {
  const defaults = readLayer(DEFAULTS);
  return Object.entries(descriptionsIn(schema)).map(
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

function descriptionsIn(schema: Joi.ObjectSchema): Readonly<Record<string, JoiDescription>> {
  return schema.describe()['keys'];
}

/** What the schema says of a setting besides its type. Empty for a name that it lacks. */
export function metaOf(name: string): SettingMeta {
  descriptions ??= descriptionsIn(SETTINGS_SCHEMA);
  const metas = Object.hasOwn(descriptions, name) ? (descriptions[name]?.metas ?? []) : [];
  return Object.assign({}, ...metas);
}
