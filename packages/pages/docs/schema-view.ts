import { type Child, disclosure, element } from './element.js';
import { inlineMarkdown } from './markdown.js';
import type { AnySchema, Schema } from './openapi.js';
import { isReference, type References } from './references.js';
import { constraintsOf, modelName, typeText } from './schema-terms.js';

/**
 * A schema as a list of its members. The content of a member is created when it is opened: a schema may contain itself.
 */
export function schemaView(schema: AnySchema | undefined, references: References): HTMLElement {
  const found = references.schema(schema);
  if (found.contentSchema) return schemaView(found.contentSchema, references);
  const within = membersOf(found, references);
  const terms = constraintsOf(found, references);
  return element(
    'div',
    { class: 'schema' },
    element('p', {}, typeView(schema, references), terms.length > 0 && ` ${terms.join(' · ')}`),
    found.description ? element('p', {}, ...inlineMarkdown(found.description)) : undefined,
    ...within,
  );
}

/** The type, with links to the models in it. */
function typeView(schema: AnySchema | undefined, references: References): HTMLElement {
  const text = typeText(schema, references);
  const direct = references.schema(schema).items ?? schema;
  const name = typeof direct === 'object' && isReference(direct) ? modelName(direct.$ref) : undefined;
  const code = element('code', {}, text);
  return name === undefined ? code : element('a', { href: `#/models/${name}` }, code);
}

interface Member {
  readonly name: string;
  readonly schema: AnySchema;
  readonly isRequired: boolean;
}

function membersOf(schema: Schema, references: References): Child[] {
  const items = references.schema(schema.items);
  const isList = schema.items !== undefined;
  const members = ownMembers(isList ? items : schema, references);
  if (members.length > 0) return [element('ul', {}, ...members.map((member) => memberView(member, references)))];
  const choices = (isList ? items : schema).oneOf ?? (isList ? items : schema).anyOf ?? [];
  return choices.length > 1 ? choices.map((choice) => schemaView(choice, references)) : [];
}

function ownMembers(schema: Schema, references: References): Member[] {
  const inherited = (schema.allOf ?? []).flatMap((part) => ownMembers(references.schema(part), references));
  const own = Object.entries(schema.properties ?? {}).map(([name, inner]) => ({
    name,
    schema: inner,
    isRequired: schema.required?.includes(name) ?? false,
  }));
  const [others = schema.additionalProperties] = Object.values(schema.patternProperties ?? {});
  const any =
    typeof others === 'object' && Object.keys(others).length > 0
      ? [{ name: 'any other name', schema: others, isRequired: false }]
      : [];
  return [...inherited, ...own, ...any];
}

function memberView({ name, schema, isRequired }: Member, references: References): HTMLElement {
  const found = references.schema(schema);
  const terms = constraintsOf(found, references).join(' · ');
  const line: Child[] = [
    element('code', { class: 'name' }, name),
    ' ',
    element('span', { class: 'type' }, typeText(schema, references)),
    isRequired && ' ',
    isRequired && element('span', { class: 'required' }, 'required'),
    ' ',
    element('span', { class: 'terms' }, terms),
  ];
  const text = found.description ? element('div', { class: 'note' }, ...inlineMarkdown(found.description)) : undefined;
  const isDeep = membersOf(found, references).length > 0;
  return isDeep
    ? element(
        'li',
        {},
        disclosure(line, () => [text, ...membersOf(found, references)]),
      )
    : element('li', {}, ...line, text);
}
