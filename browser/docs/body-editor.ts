import { element, newName } from './element.js';
import type { RequestBody } from './openapi.js';
import { prose } from './prose.js';
import type { References } from './references.js';
import { examplesOf, type NamedExample } from './sample.js';

const FORM = 'application/x-www-form-urlencoded';

export interface BodyEditor {
  readonly view: HTMLElement;
  typed(): { type: string; text: string } | undefined;
}

/** The body as text, with the document's examples to begin from. */
export function bodyEditor(body: RequestBody, references: References): BodyEditor {
  const ids = { type: newName(), example: newName(), text: newName() };
  const types = Object.keys(body.content);
  const type = selection(ids.type, types);
  const example = element('select', { id: ids.example, autocomplete: 'off' });
  const text = element('textarea', { id: ids.text, class: 'body', spellcheck: 'false', autocomplete: 'off' });
  let examples: NamedExample[] = [];
  const exampleRow = labelled('Example', ids.example, example);
  const fill = () => {
    text.value = written(examples[example.selectedIndex]?.value, type.value);
    text.rows = Math.min(24, Math.max(3, text.value.split('\n').length + 1));
  };
  const choose = () => {
    examples = examplesOf(body.content, type.value, references);
    example.replaceChildren(...examples.map(({ name }) => element('option', {}, name)));
    exampleRow.hidden = examples.length < 2;
    fill();
  };
  type.addEventListener('change', choose);
  example.addEventListener('change', fill);
  choose();
  const view = element(
    'fieldset',
    {},
    element('legend', {}, 'Body'),
    prose(body.description ?? ''),
    element('div', { class: 'fields' }, labelled('Content-Type', ids.type, type), exampleRow),
    element('label', { for: ids.text, class: 'above' }, 'Content'),
    text,
  );
  const isLeftOut = () => text.value === '' && !body.required;
  return { view, typed: () => (isLeftOut() ? undefined : { type: type.value, text: text.value }) };
}

export function selection(id: string, values: readonly string[]): HTMLSelectElement {
  const options = values.map((value) => element('option', { value }, value));
  return element('select', { id, autocomplete: 'off' }, ...options);
}

export function labelled(label: string, id: string, control: HTMLElement): HTMLElement {
  return element('div', { class: 'field' }, element('label', { for: id }, label), control);
}

/** An example as it is sent in a media type. */
export function written(value: unknown, type: string): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return value;
  if (type === FORM) return new URLSearchParams(value as Record<string, string>).toString();
  if (type.includes('ndjson')) return linesOf(value);
  return JSON.stringify(value, undefined, 2);
}

function linesOf(value: unknown): string {
  const values = Array.isArray(value) ? value : [value];
  return values.map((one) => `${JSON.stringify(one)}\n`).join('');
}
