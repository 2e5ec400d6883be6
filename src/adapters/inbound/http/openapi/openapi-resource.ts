import { uniqueFields } from '../../../../domain/fields.js';
import type { ParameterDescription, ResourceDocs } from '../core/description.js';
import type { ResponseErrorCode } from '../core/error-codes.js';
import { type JsonSchema, type ObjectSchema, schemaRef } from '../core/json-schema.js';
import type { ResourceDefinition } from '../core/resource-definition.js';
import { columnsOf } from '../list/csv.js';
import { FieldSelector } from '../query/field-selection.js';
import type { ResponseHeader } from './header-objects.js';
import type { ContentDescription } from './operation-description.js';
import {
  EXAMPLE_TIME,
  putSchemas,
  resourceSchemas,
  type SchemaKind,
  schemaNames,
} from './resource-schemas.js';

/** The parts that the operations of a resource share in the OpenAPI document. */
export class OpenApiResource {
  readonly names: Readonly<Record<SchemaKind, string>>;

  constructor(
    readonly definition: ResourceDefinition<never>,
    /** Whether every write needs If-Match. */
    readonly requireIfMatch: boolean,
    /** The unique field in the path. Absent: the id. */
    private readonly key?: string,
  ) {
    this.names = schemaNames(definition.docs);
  }

  get docs(): ResourceDocs {
    return this.definition.docs;
  }

  /** The id of an operation: `patchProductBySku`. */
  operationId(verb: string): string {
    return `${verb}${this.docs.name}${this.suffix}`;
  }

  private get suffix(): string {
    const { key } = this;
    return key === undefined ? '' : `By${key.charAt(0).toUpperCase()}${key.slice(1)}`;
  }

  /** The body of a PUT by the key, with its schemas. */
  get put() {
    const { key = '', definition } = this;
    if (!definition.table[key]?.required)
      return { body: this.body('replacement'), schemas: this.schemas('replacement') };
    const name = `${this.docs.name}${this.suffix}`;
    const { [key]: _inPath, ...example } = definition.example;
    return { body: { schema: schemaRef(name), example }, schemas: putSchemas(definition, name, key) };
  }

  /** What an operation does: `Change a product by its sku`. */
  summary(verb: string): string {
    return `${verb} ${this.docs.singular}${this.key === undefined ? '' : ` by its ${this.key}`}`;
  }

  /** The headers of a response with a record. */
  get recordHeaders(): readonly ResponseHeader[] {
    return this.key === undefined ? ['ETag'] : ['ETag', 'Content-Location'];
  }

  /** The errors of a write that conflicts with another record. */
  get conflicts(): readonly ResponseErrorCode[] {
    return uniqueFields(this.definition.fields).length > 0 ? ['duplicate_value'] : [];
  }

  /** The schemas of these kinds of bodies, by name. */
  schemas(...kinds: SchemaKind[]): Readonly<Record<string, JsonSchema>> {
    return Object.assign({}, ...kinds.map((kind) => resourceSchemas(this.definition, kind)));
  }

  /** A response with a record. */
  get record(): ContentDescription {
    return { schema: schemaRef(this.names.record) };
  }

  /** The body of a request. Postman takes its example from here, not from the schema. */
  body(kind: 'input' | 'replacement' | 'patch'): ContentDescription {
    const { example } = this.definition;
    return {
      schema: schemaRef(this.names[kind]),
      example: kind === 'patch' ? Object.fromEntries(Object.entries(example).slice(0, 1)) : example,
    };
  }

  /** With a value in every field by which lists can be filtered. */
  get wholeExample(): object {
    const readOnly = Object.entries(this.definition.readOnlyFields ?? {}).flatMap(([name, { examples }]) =>
      Array.isArray(examples) ? [[name, examples[0]]] : [],
    );
    const more = { ...Object.fromEntries(readOnly), createdAt: EXAMPLE_TIME, updatedAt: EXAMPLE_TIME };
    return { id: 1, ...this.definition.example, ...more };
  }

  /** The parameter `fields`. */
  fieldsOn(shownOn: 'item' | 'list'): ParameterDescription {
    const { required = [] } = resourceSchemas(this.definition, 'record')[this.names.record] as ObjectSchema;
    const description = new FieldSelector(this.definition, shownOn).description(required);
    if (shownOn === 'item') return description;
    const { shown, decimals, attribute } = columnsOf(this.definition);
    const parts = shown.filter(({ path }) => path.length > 1).map(({ name }) => `\`${name}\``);
    parts.push(...decimals.map(({ name, money }) => `\`${name}\` (\`${money.amount}\` in the major unit)`));
    if (attribute('attributes.KEY')) parts.push('`attributes.KEY`');
    const more = parts.length > 0 ? `, and ${parts.join(', ')} are names too` : '';
    return {
      ...description,
      description: `${description.description} In CSV, the columns in this order${more}.`,
    };
  }
}
