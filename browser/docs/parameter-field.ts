import type { Entry } from './attempt.js';
import { element, newName } from './element.js';
import type { Parameter, Schema } from './openapi.js';
import { marked } from './prose.js';
import type { References } from './references.js';
import { sampleOf, typeOf } from './sample.js';
import { constraintsOf } from './schema-terms.js';

/** Headers that a browser lets no page set (Fetch standard, forbidden request-headers). */
const BROWSERS_OWN =
  /^(accept-charset|accept-encoding|access-control-.*|connection|content-length|cookie2?|date|dnt|expect|host|keep-alive|origin|referer|te|trailer|transfer-encoding|upgrade|via|proxy-.*|sec-.*)$/i;

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

export interface ParameterField {
  readonly parameter: Parameter;
  readonly view: HTMLElement;
  entry(): Entry;
}

/** A labelled field for a parameter, with what the document says of it. */
export function parameterField(parameter: Parameter, references: References): ParameterField {
  const schema = references.schema(parameter.schema);
  const kind = kindOf(schema);
  const [id, note] = [newName(), newName()];
  const isForbidden = parameter.in === 'header' && BROWSERS_OWN.test(parameter.name);
  const control = controlFor(parameter, schema, kind, references);
  for (const [name, value] of Object.entries({ id, 'aria-describedby': note, autocomplete: 'off' }))
    control.setAttribute(name, value);
  control.required = parameter.required ?? false;
  control.disabled = isForbidden;
  const view = element(
    'div',
    { class: `field ${kind}` },
    labelOf(parameter, id),
    control,
    element(
      'div',
      { class: 'note', id: note },
      ...notesOn(parameter, schema, { kind, isForbidden, references }),
    ),
  );
  return { parameter, view, entry: () => ({ parameter, kind, text: isForbidden ? '' : control.value }) };
}

function kindOf(schema: Schema): Entry['kind'] {
  const type = typeOf(schema);
  if (type === 'array') return 'list';
  return type === 'object' ? 'members' : 'plain';
}

function labelOf({ name, required, deprecated }: Parameter, id: string): HTMLElement {
  const label = element('label', { for: id }, element('code', {}, name));
  if (required) label.append(' ', element('span', { class: 'required' }, 'required'));
  if (deprecated) label.append(' ', element('span', { class: 'deprecated' }, 'deprecated'));
  return label;
}

function controlFor(
  parameter: Parameter,
  schema: Schema,
  kind: Entry['kind'],
  references: References,
): Control {
  if (kind === 'members') return membersControl(parameter, schema);
  const choices = schema.enum ?? (typeOf(schema) === 'boolean' ? [true, false] : undefined);
  if (kind === 'plain' && choices) return choiceControl(parameter, choices);
  const isWhole = typeOf(kind === 'list' ? references.schema(schema.items) : schema) === 'integer';
  const value = parameter.required ? beginning(parameter, schema, references) : undefined;
  return element('input', {
    type: 'text',
    spellcheck: 'false',
    autocapitalize: 'off',
    inputmode: isWhole && kind === 'plain' ? 'numeric' : undefined,
    placeholder: placeholder(parameter, schema, references),
    value,
  });
}

function membersControl({ example }: Parameter, schema: Schema): HTMLTextAreaElement {
  const [name = 'name', value = 'value'] =
    Object.entries(example ?? schema.example ?? schema.examples?.[0] ?? {})[0] ?? [];
  return element('textarea', { rows: '2', spellcheck: 'false', placeholder: `${name}=${value}` });
}

function choiceControl({ required }: Parameter, choices: readonly unknown[]): HTMLSelectElement {
  const options = choices.map((choice) => element('option', { value: String(choice) }, String(choice)));
  return element('select', {}, !required && element('option', { value: '' }, '—'), ...options);
}

function placeholder(parameter: Parameter, schema: Schema, references: References): string | undefined {
  return (
    exampleText(parameter, schema, references) ??
    (schema.default === undefined ? undefined : String(schema.default))
  );
}

/** What must be there is there from the beginning. */
function beginning(parameter: Parameter, schema: Schema, references: References): string {
  return exampleText(parameter, schema, references) ?? String(sampleOf(schema, references));
}

function exampleText(parameter: Parameter, schema: Schema, references: References): string | undefined {
  const [named] = Object.values(parameter.examples ?? {});
  const example =
    parameter.example ??
    (named && references.resolve<{ value?: unknown }>(named).value) ??
    schema.example ??
    schema.examples?.[0];
  return example === undefined ? undefined : String(example);
}

interface Noted {
  readonly kind: Entry['kind'];
  readonly isForbidden: boolean;
  readonly references: References;
}

function notesOn({ description = '' }: Parameter, schema: Schema, { kind, isForbidden, references }: Noted) {
  const terms = [
    kind === 'list' ? 'separated by commas' : '',
    kind === 'members' ? 'a line each: name=value' : '',
    ...constraintsOf(schema, references),
    isForbidden ? 'set by the browser itself' : '',
  ].filter((term) => term !== '');
  return [
    description === '' ? undefined : element('div', {}, ...marked(description)),
    terms.length > 0 && element('div', { class: 'terms' }, terms.join(' · ')),
  ];
}
