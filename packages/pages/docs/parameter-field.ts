import { type Child, element, newId } from './element.js';
import { exampleOf, typeOf } from './examples.js';
import { inlineMarkdown } from './markdown.js';
import type { Parameter, Schema } from './openapi.js';
import type { References } from './references.js';
import type { ParameterValue } from './request.js';
import { constraintsOf } from './schema-terms.js';

/** Headers that no page can set in a browser (Fetch standard, forbidden request-headers). */
const BROWSERS_OWN =
  /^(accept-charset|accept-encoding|access-control-.*|connection|content-length|cookie2?|date|dnt|expect|host|keep-alive|origin|referer|te|trailer|transfer-encoding|upgrade|via|proxy-.*|sec-.*)$/i;

export interface ParameterField {
  readonly view: HTMLElement;
  value(): ParameterValue;
}

interface Options {
  /** The label, if it is not the name of the parameter. */
  readonly label?: string;
  readonly initial?: string;
}

/** A labelled field for a parameter, with its description. */
export function parameterField(
  parameter: Parameter,
  references: References,
  { label, initial = '' }: Options = {},
): ParameterField {
  const schema = references.schema(parameter.schema);
  const isList = typeOf(schema) === 'array';
  const [id, note] = [newId(), newId()];
  const isForbidden = parameter.in === 'header' && BROWSERS_OWN.test(parameter.name);
  const choices = schema.enum ?? (typeOf(schema) === 'boolean' ? [true, false] : undefined);
  const control =
    choices === undefined ? textControl(parameter, schema, references) : choiceControl(parameter, choices);
  for (const [name, value] of Object.entries({ id, 'aria-describedby': note, autocomplete: 'off' }))
    control.setAttribute(name, value);
  if (initial !== '' && (choices === undefined || choices.map(String).includes(initial))) control.value = initial;
  control.required = parameter.required ?? false;
  control.disabled = isForbidden;
  const notes = notesOn(parameter, schema, { isList, isForbidden, references });
  const view = element(
    'div',
    { class: 'field' },
    label === undefined ? nameLabel(parameter, id) : element('label', { for: id }, label),
    control,
    element('div', { class: 'note', id: note }, ...notes),
  );
  return { view, value: () => ({ parameter, isList, text: isForbidden ? '' : control.value }) };
}

function nameLabel({ name, required, deprecated }: Parameter, id: string): HTMLElement {
  const label = element('label', { for: id }, element('code', {}, name));
  if (required) label.append(' ', element('span', { class: 'required' }, 'required'));
  if (deprecated) label.append(' ', element('span', { class: 'deprecated' }, 'deprecated'));
  return label;
}

function textControl(parameter: Parameter, schema: Schema, references: References): HTMLInputElement {
  const example = parameterExample(parameter, schema, references);
  const usual = schema.default === undefined ? undefined : String(schema.default);
  return element('input', {
    type: 'text',
    spellcheck: 'false',
    autocapitalize: 'off',
    inputmode: typeOf(schema) === 'integer' ? 'numeric' : undefined,
    placeholder: example ?? usual,
    value: parameter.required ? (example ?? String(exampleOf(schema, references))) : undefined,
  });
}

function choiceControl({ required }: Parameter, choices: readonly unknown[]): HTMLSelectElement {
  const options = choices.map((choice) => element('option', { value: String(choice) }, String(choice)));
  return element('select', {}, !required && element('option', { value: '' }, '—'), ...options);
}

function parameterExample(parameter: Parameter, schema: Schema, references: References): string | undefined {
  const [named] = Object.values(parameter.examples ?? {});
  const example =
    parameter.example ??
    (named && references.resolve<{ value?: unknown }>(named).value) ??
    schema.example ??
    schema.examples?.[0];
  return example === undefined ? undefined : String(example);
}

interface NoteOptions {
  readonly isList: boolean;
  readonly isForbidden: boolean;
  readonly references: References;
}

function notesOn(
  { description = '' }: Parameter,
  schema: Schema,
  { isList, isForbidden, references }: NoteOptions,
): Child[] {
  const terms = [
    isList ? 'separated by commas' : '',
    ...constraintsOf(schema, references),
    isForbidden ? 'set by the browser itself' : '',
  ].filter((term) => term !== '');
  return [
    description === '' ? undefined : element('div', {}, ...inlineMarkdown(description)),
    terms.length > 0 && element('div', { class: 'terms' }, terms.join(' · ')),
  ];
}
