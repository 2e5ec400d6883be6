import type { Field, FieldTable } from '../../domain/fields.js';
import type { Id, Instant, Versioned } from '../../domain/record.js';
import type { JsonObject } from '../../shared/json.js';

/**
 * A record that makes its fields and their JSON text from each other, each when it is first needed. So a record that is
 * only passed on is neither parsed nor written again. The text is private: a copy with other fields has none.
 */
export class StoredRecord<Fields> implements Versioned<Fields> {
  declare readonly fields: Fields;
  #fields: Fields | undefined;
  #json: string | undefined;
  #bytes: number | undefined;

  private constructor(
    readonly id: Id,
    readonly version: number,
    readonly createdAt: Instant,
    readonly updatedAt: Instant,
    fields: Fields | undefined,
    json: string | undefined,
  ) {
    this.#fields = fields;
    this.#json = json;
    // An own property, so that the fields are part of copies and comparisons, as those of any record are.
    Object.defineProperty(this, 'fields', StoredRecord.#lazyFields);
  }

  static readonly #lazyFields: PropertyDescriptor & ThisType<StoredRecord<unknown>> = {
    enumerable: true,
    get() {
      this.#fields ??= JSON.parse(this.fieldsJson);
      return this.#fields;
    },
  };

  /** @param record must not be changed afterwards */
  static of<Fields>(record: Versioned<Fields>): StoredRecord<Fields> {
    if (record instanceof StoredRecord) return record as StoredRecord<Fields>;
    const { id, version, createdAt, updatedAt, fields } = record;
    return new StoredRecord(id, version, createdAt, updatedAt, fields, undefined);
  }

  /** @param fieldsJson an object, as `JSON.stringify` writes it */
  static fromJson<Fields>(
    id: Id,
    version: number,
    createdAt: Instant,
    updatedAt: Instant,
    fieldsJson: string,
  ): StoredRecord<Fields> {
    return new StoredRecord<Fields>(id, version, createdAt, updatedAt, undefined, fieldsJson);
  }

  /**
   * Returns the record for one look at its fields: those made from a text are not kept beside it. So a page of records
   * goes on holding the texts that its limit counts.
   */
  static once<Fields>(record: Versioned<Fields>): Versioned<Fields> {
    if (!(record instanceof StoredRecord) || record.#fields !== undefined) return record;
    return record.asText();
  }

  /** The record with its text alone. */
  asText(): StoredRecord<Fields> {
    const { id, version, createdAt, updatedAt } = this;
    return StoredRecord.fromJson(id, version, createdAt, updatedAt, this.fieldsJson);
  }

  get fieldsJson(): string {
    this.#json ??= JSON.stringify(this.#fields);
    return this.#json;
  }

  /** The length of {@link fieldsJson} in UTF-8. */
  get fieldsBytes(): number {
    this.#bytes ??= Buffer.byteLength(this.fieldsJson);
    return this.#bytes;
  }
}

/** Returns the JSON text of a record's fields. */
export function fieldsJson(record: Versioned<unknown>): string {
  return record instanceof StoredRecord ? record.fieldsJson : JSON.stringify(record.fields);
}

const STRING = String.raw`"[^"\\]*(?:\\.[^"\\]*)*"`;
const NUMBER = '[-+.0-9Ee]+';
const ATTRIBUTE = `${STRING}:(?:${STRING}|${NUMBER}|true|false)`;

/**
 * Returns an expression that matches the JSON text of an object if it has no members but these fields, in the order of
 * the table and of its types, also inside objects. Such a text can be shown as it is. The expression assumes that the
 * text is JSON without white space, and takes less than a tenth of the time of parsing it.
 */
export function presentablePattern(table: FieldTable): RegExp {
  return new RegExp(`^${objectPattern(table)}$`);
}

function objectPattern(table: FieldTable): string {
  const members = Object.entries(table).map(([name, field]) => `(?:,?"${name}":${patternOf(field)})?`);
  return `\\{${members.join('')}\\}`;
}

function patternOf(field: Field): string {
  switch (field.kind) {
    case 'text':
    case 'code':
    case 'choice':
      return STRING;
    case 'integer':
    case 'reference':
    case 'instant':
      return NUMBER;
    case 'attributes':
      return `\\{(?:${ATTRIBUTE}(?:,${ATTRIBUTE})*)?\\}`;
    case 'object':
      return objectPattern(field.fields);
    case 'list': {
      const element = patternOf(field.of);
      return `\\[(?:${element}(?:,${element})*)?\\]`;
    }
  }
}

/** Returns a record as clients see it. A field without a value is absent. */
export interface ResponseMapper<Fields> {
  (record: Versioned<Fields>): JsonObject;
  /** Returns the JSON text of the result if it is the stored text with the id, else undefined. Absent: it never is. */
  readonly storedResponse?: (record: Versioned<Fields>) => string | undefined;
}

/** Makes {@link ResponseMapper.storedResponse} for these fields. */
export function storedResponse(table: FieldTable): (record: Versioned<unknown>) => string | undefined {
  const shown = presentablePattern(table);
  return (record) => {
    const json = fieldsJson(record);
    return json === '{}' || !shown.test(json) ? undefined : `{"id":${record.id},${json.slice(1)}`;
  };
}

/** Returns the JSON text of a record as clients see it. */
export function responseJson<Fields>(present: ResponseMapper<Fields>, record: Versioned<Fields>): string {
  return present.storedResponse?.(record) ?? JSON.stringify(present(record));
}
