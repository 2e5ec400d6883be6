import type { AnySchema, Content, Example, MediaType, Schema } from './openapi.js';
import type { References } from './references.js';

const MAX_DEPTH = 6;

export interface NamedExample {
  readonly name: string;
  readonly value: unknown;
}

/**
 * The examples of a media type: those of the document, else one made from the schema. An example of a record in another
 * media type is also an example of an NDJSON line.
 */
export function examplesOf(content: Content, type: string, references: References): NamedExample[] {
  const media = content[type] ?? {};
  const isNdjson = references.schema(media.schema).contentSchema !== undefined;
  const sources = isNdjson ? [media, ...Object.values(content)] : [media];
  const given = sources.map((source) => givenExamples(source, references));
  const sample = { name: 'Example', value: exampleOf(media.schema, references) };
  return given.find(({ length }) => length > 0) ?? [sample];
}

/** The examples in the document. */
export function givenExamples(media: MediaType, references: References): NamedExample[] {
  if (media.example !== undefined) return [{ name: 'Example', value: media.example }];
  return Object.entries(media.examples ?? {}).map(([name, referable]) => {
    const { summary, value } = references.resolve<Example>(referable);
    return { name: summary ?? name, value };
  });
}

/** Makes an example of a schema. */
export function exampleOf(schema: AnySchema | undefined, references: References, depth = 0): unknown {
  const found = references.schema(schema);
  const given = givenBy(found);
  if (given !== undefined || depth > MAX_DEPTH) return given ?? null;
  const within = (inner: AnySchema | undefined) => exampleOf(inner, references, depth + 1);
  if (found.contentSchema) return within(found.contentSchema);
  const choice = found.oneOf?.[0] ?? found.anyOf?.[0];
  if (choice !== undefined) return within(choice);
  if (found.allOf) return Object.assign({}, ...found.allOf.map(within));
  if (found.properties) return objectOf(found, references, within);
  return plain(typeOf(found), found, within);
}

/** The first of the types that is not null. */
export function typeOf({ type }: Schema): string | undefined {
  return typeof type === 'string' ? type : type?.find((name) => name !== 'null');
}

function givenBy({ example, examples, const: only, default: usual, enum: choices }: Schema): unknown {
  return example ?? examples?.[0] ?? only ?? usual ?? choices?.[0];
}

function objectOf({ properties = {} }: Schema, references: References, within: (schema: AnySchema) => unknown): object {
  const sent = Object.entries(properties).filter(([, inner]) => !references.schema(inner).readOnly);
  return Object.fromEntries(sent.map(([name, inner]) => [name, within(inner)]));
}

function plain(type: string | undefined, schema: Schema, within: (schema: AnySchema | undefined) => unknown): unknown {
  if (type === 'array') return [within(schema.items)];
  if (type === 'object') return {};
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1;
  if (type === 'boolean') return true;
  if (type === 'null') return null;
  return schema.format === 'date-time' ? '2030-01-31T12:00:00Z' : 'text';
}
