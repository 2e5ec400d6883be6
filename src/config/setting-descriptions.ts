import type { Setting } from '../shared/setting.js';
import { DEFAULTS, readLayer } from './settings-layers.js';
import { SETTINGS } from './settings-schema.js';

/** A setting with its name and its default, as the documentation shows it. */
export interface SettingDescription extends Setting {
  readonly name: string;
  /** Empty: no default. */
  readonly default: string;
}

/** All settings in the order of the schema, except CONFIG_FILE, which names a file of settings. */
export function describeSettings(
  settings: Readonly<Record<string, Setting>> = SETTINGS,
): SettingDescription[] {
  const defaults = readLayer(DEFAULTS);
  return Object.entries(settings).map(([name, setting]) => ({
    ...setting,
    name,
    default: setting.formula ?? String(defaults[name] ?? ''),
  }));
}
