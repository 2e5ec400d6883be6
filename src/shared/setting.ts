/** What of a setting is secret: all of it, or the credentials in its URL. */
export type Secrecy = 'all' | 'url';

/** The values of all settings as they were given, by name. */
export type GivenValues = Readonly<Record<string, unknown>>;

/** What a setting may be, and what the documentation says of it. An empty text is no value. */
export interface Setting {
  readonly type: 'text' | 'integer' | 'boolean';
  /** One sentence in Markdown. */
  readonly description: string;
  /** The allowed values; of an integer, those that are no numbers. Absent: any value of the type. */
  readonly values?: readonly string[];
  /** The limits of an integer. */
  readonly minimum?: number;
  readonly maximum?: number;
  readonly secrecy?: Secrecy;
  /** What requires a value: any value of another setting, or this one. */
  readonly requiredBy?: { readonly name: string; readonly value?: string };
  /** The value if none is given: an empty text, or one that follows from others. Absent: there must be a value. */
  readonly absent?: '' | ((given: GivenValues) => string);
  /** That default for a person, with the names of other settings in place of their values. */
  readonly formula?: string;
  /**
   * Looks for further issues of a value of this type.
   * @returns what is wrong: a line that a person reads before the value, or whole lines; undefined if nothing is
   */
  issue?(value: never, given: GivenValues): string | readonly string[] | undefined;
  /** Returns the normal form of a text that has no issue. */
  normalized?(text: string): string;
}

/** A setting that is a text. */
export interface TextSetting extends Setting {
  readonly type: 'text';
  issue?(text: string, given: GivenValues): string | readonly string[] | undefined;
}
