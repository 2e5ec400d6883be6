/** What lists can ask of a field, and what must hold of its values. */
export interface FieldTraits {
  /** `instant`: milliseconds since 1970-01-01T00:00:00Z. `attributes`: an object of keys that are data. */
  readonly type: 'text' | 'integer' | 'instant' | 'attributes';
  /** Every record has a value. Only by such fields can a list be sorted. */
  readonly required?: true;
  /** No two records share a value. */
  readonly unique?: true;
  /** Names a record of another resource. Clients list what names one such record, newest first. */
  readonly reference?: true;
  /** `A` to `Z` count as `a` to `z` wherever two values are told apart; in order they do not. */
  readonly ignoresCase?: true;
}

/** By name; a field of an object inside the record is named with a dot: `price.amount`. */
export type FieldSet = Readonly<Record<string, FieldTraits>>;

/** The service's own fields, which every record has. */
export const METADATA: FieldSet = {
  id: { type: 'integer', required: true, unique: true },
  createdAt: { type: 'instant', required: true },
  updatedAt: { type: 'instant', required: true },
};

export function uniqueFields(fields: FieldSet): string[] {
  return Object.keys(fields).filter((name) => fields[name]?.unique);
}
