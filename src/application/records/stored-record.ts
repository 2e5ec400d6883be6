import type { Id, Instant, Versioned } from '../../domain/record.js';

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
