import { element, labelled, newId, selection } from './element.js';
import { examplesOf, type NamedExample } from './examples.js';
import { markdown } from './markdown.js';
import type { RequestBody } from './openapi.js';
import type { References } from './references.js';
import { FORM_TYPE } from './request.js';

export interface BodyEditor {
  readonly view: HTMLElement;
  value(): { type: string; text: string } | undefined;
}

/** An editor for the body as text. It starts with an example of the document. */
export function bodyEditor(body: RequestBody, references: References): BodyEditor {
  const id = newId();
  const types = Object.keys(body.content);
  const type = selection(types);
  const example = selection([]);
  const text = element('textarea', { id, class: 'body', spellcheck: 'false', autocomplete: 'off' });
  let examples: NamedExample[] = [];
  const exampleRow = labelled('Example', example);
  const fill = () => {
    text.value = serialized(examples[example.selectedIndex]?.value, type.value);
    text.rows = Math.min(24, Math.max(6, text.value.split('\n').length + 1));
  };
  const choose = () => {
    examples = examplesOf(body.content, type.value, references);
    example.replaceChildren(...examples.map(({ name }) => element('option', {}, name)));
    exampleRow.hidden = examples.length < 2;
    fill();
  };
  type.addEventListener('input', choose);
  example.addEventListener('input', fill);
  choose();
  const view = element(
    'fieldset',
    {},
    element('legend', {}, 'Body'),
    markdown(body.description ?? ''),
    element('div', { class: 'fields' }, labelled('Content-Type', type), exampleRow),
    element('label', { for: id, class: 'above' }, 'Content'),
    text,
  );
  const isLeftOut = () => text.value === '' && !body.required;
  return { view, value: () => (isLeftOut() ? undefined : { type: type.value, text: text.value }) };
}

/** Writes an example in a media type. */
export function serialized(value: unknown, type: string): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return value;
  if (type === FORM_TYPE) return new URLSearchParams(value as Record<string, string>).toString();
  if (type.includes('ndjson')) return linesOf(value);
  return JSON.stringify(value, undefined, 2);
}

function linesOf(value: unknown): string {
  const values = Array.isArray(value) ? value : [value];
  return values.map((one) => `${JSON.stringify(one)}\n`).join('');
}
