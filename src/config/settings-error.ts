/** The settings are invalid. There is one issue per line, without secrets. */
export class SettingsError extends Error {
  constructor(readonly issues: readonly string[]) {
    super(issues.join('\n'));
  }
}
