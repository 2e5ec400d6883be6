import { uniqueFields } from '../../../../domain/fields.js';
import type { ResourceDescription } from '../resource-description.js';
import type { ResponseErrorCode } from '../response/error-codes.js';
import { type ContentDescription, type OperationDescription, schemaRef } from './description.js';
import type { JsonSchema } from './json-schema.js';
import { resourceSchemas, type SchemaKind, schemaNames } from './resource-schemas.js';
import { type ResourceWords, tagOf } from './resource-words.js';

/** What the descriptions of a resource's operations are made of. They are alike for all; one that differs says so over it. */
export class DescribedResource<Fields> {
  readonly names: Readonly<Record<SchemaKind, string>>;
  private readonly schemas: Readonly<Record<SchemaKind, JsonSchema>>;

  constructor(
    readonly description: ResourceDescription<Fields>,
    /** Whether no write goes without If-Match. */
    readonly requireIfMatch: boolean,
  ) {
    this.names = schemaNames(description.words);
    this.schemas = resourceSchemas(description);
  }

  get words(): ResourceWords {
    return this.description.words;
  }

  /** How a write fails that meets another record's value. */
  get conflicts(): readonly ResponseErrorCode[] {
    return uniqueFields(this.description.fields).length > 0 ? ['duplicate_value'] : [];
  }

  /** @param kinds of the schemas that the operation names */
  about(...kinds: SchemaKind[]): Pick<OperationDescription, 'tag' | 'schemas'> {
    const named = kinds.map((kind) => [this.names[kind], this.schemas[kind]]);
    return { tag: tagOf(this.words), schemas: Object.fromEntries(named) };
  }

  /** A record whole, or of it what `fields` asks for. */
  shown(): JsonSchema {
    return { anyOf: [schemaRef(this.names.whole), schemaRef(this.names.view)] };
  }

  /** What a client sends. */
  body(schema: string): ContentDescription {
    const { one, example } = this.words;
    return { schema: schemaRef(schema), examples: { some: { summary: one, value: example } } };
  }

  get example(): object {
    const { alwaysGiven = [] } = this.description;
    const given = alwaysGiven.map((name) => [name, '2026-01-31T12:00:00.000Z']);
    return { id: 1, ...this.words.example, ...Object.fromEntries(given) };
  }

  examples(): ContentDescription['examples'] & object {
    return { some: { summary: this.words.one, value: this.example } };
  }
}
