import type { ResourceDefinition } from '#src/adapters/inbound/http/core/resource-definition.js';
import { schemaNames } from '#src/adapters/inbound/http/openapi/schemas.js';
import { DEFINITIONS } from '#src/composition/resources.js';
import { exampleOf, type Field, type FieldTable, uniqueFields } from '#src/domain/fields.js';

/** What the hooks of schemathesis need to know of a resource beyond its JSON Schema. */
export interface ConformanceResource {
  /** A valid body with the fields that every record has, that no two records share, or that filters need. */
  readonly sample: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
  readonly unique: readonly string[];
  /** Fields that are no text of white space alone, or no list with one. The document says a part of it in words. */
  readonly notBlank: readonly string[];
  /** The path to each list in which no element is there twice, or to the member of its elements that differs. */
  readonly distinct: readonly (readonly string[])[];
  /** The path of each reference without the positions in lists, and the resource that it names. */
  readonly references: readonly { readonly path: readonly string[]; readonly to: string }[];
  /** The name of the schema of a merge patch. */
  readonly patch: string;
}

/** The resources by the noun in their paths. */
export function conformanceResources(): Readonly<Record<string, ConformanceResource>> {
  const all = Object.values<ResourceDefinition<never>>(DEFINITIONS as never);
  return Object.fromEntries(all.map((resource) => [resource.path, resourceOf(resource)]));
}

function resourceOf({ table, fields, docs }: ResourceDefinition<never>): ConformanceResource {
  const names = (isNamed: (field: Field) => unknown) =>
    Object.entries(table)
      .filter(([, field]) => isNamed(field))
      .map(([name]) => name);
  const isInSample = ({ required, unique, kind }: Field) => required || unique || kind === 'attributes';
  return {
    sample: exampleOf(Object.fromEntries(Object.entries(table).filter(([, field]) => isInSample(field)))),
    required: names(({ required }) => required),
    unique: uniqueFields(fields),
    notBlank: names((field) => isNotBlank(field.kind === 'list' ? field.of : field)),
    distinct: Object.entries(table).flatMap(([name, field]) =>
      field.kind === 'list' && field.distinct ? [[name, ...field.distinct]] : [],
    ),
    references: referencesIn(table),
    patch: schemaNames(docs).patch,
  };
}

function isNotBlank(field: Field): boolean {
  return field.kind === 'text' && field.pattern !== undefined && !field.allowed.test('\u3000');
}

function referencesIn(table: FieldTable): ConformanceResource['references'] {
  return Object.entries(table).flatMap(([name, field]) => {
    const element = field.kind === 'list' ? field.of : field;
    if (element.kind === 'reference') return [{ path: [name], to: element.to }];
    if (element.kind !== 'object') return [];
    return referencesIn(element.fields).map(({ path, to }) => ({ path: [name, ...path], to }));
  });
}
