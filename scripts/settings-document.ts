import { describeSettings, type SettingDescription } from '#src/config/settings-schema.js';

/** The path of the document, from the root of the project. */
export const SETTINGS_DOCUMENT = 'docs/reference/settings.md';

/** The Markdown page of settings, generated from the schema that validates them. */
export function settingsDocument(settings = describeSettings()): string {
  const rows = settings.map((setting) => {
    const initial = setting.default === '' ? 'none' : code(setting.default);
    return `| ${code(setting.name)} | ${initial} | ${valuesOf(setting)} | ${setting.description} |`;
  });
  return `${INTRODUCTION}

| name | default | values | meaning |
|---|---|---|---|
| \`CONFIG_FILE\` | none | text | A JSON file of settings, only in the environment. |
${rows.join('\n')}
`;
}

const INTRODUCTION = `# Settings

Defaults are in \`config/default.json\`. The JSON file that \`CONFIG_FILE\` names overrides them, and environment
variables override both. An empty variable counts as not set. A wrong value, or an unknown name in a file, stops the
start with one line per problem and exit code 78. A variable that is probably misspelt causes a warning. In the URL of a
server, percent-encode special characters of the name and the password: \`@\` is \`%40\`, \`#\` \`%23\`. \`catalogue config\`
prints the settings with their sources; \`catalogue check\` examines what they name.

[Operations](../how-to/operations.md#what-each-setting-protects) explains which setting protects what. \`npm run docs\`
generates this page from \`src/config/settings-schema.ts\` and, for the stores, \`src/composition/stores\`; edit the texts
there.`;

function valuesOf({ type, values, minimum, maximum }: SettingDescription): string {
  const range = minimum === undefined || maximum === undefined ? [] : [`${grouped(minimum)} to ${grouped(maximum)}`];
  const named = type === 'boolean' ? ['true', 'false'] : values;
  return [...range, ...named.map(code)].join(', ') || 'text';
}

function grouped(limit: number): string {
  return limit.toLocaleString('en');
}

function code(text: string): string {
  return `\`${text}\``;
}
