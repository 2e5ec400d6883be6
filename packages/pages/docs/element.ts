export type Child = Node | string | undefined | false;
export type Attributes = Readonly<Record<string, string | boolean | undefined>>;

/**
 * Creates an element. Every text becomes a text node, so a text of a document or a response is never markup.
 * @param attributes `true` makes an attribute without a value; `false` and `undefined` make none
 */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const created = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) created.setAttribute(attribute, value === true ? '' : value);
  }
  created.append(...children.filter((child) => child !== undefined && child !== false));
  return created;
}

export function button(label: string, act: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const created = element('button', { type: 'button', ...attributes }, label);
  created.addEventListener('click', act);
  return created;
}

/** A `details` element. Its content is created when it is first opened, so that a long document appears immediately. */
export function disclosure(
  summary: readonly Child[],
  content: () => readonly Child[],
  attributes: Attributes = {},
): HTMLDetailsElement {
  const details = element('details', attributes, element('summary', {}, ...summary));
  let isFilled = false;
  const fill = () => {
    if (isFilled || !details.open) return;
    isFilled = true;
    details.append(...content().filter((child) => child !== undefined && child !== false));
  };
  details.addEventListener('toggle', fill);
  fill();
  return details;
}

/** A scrollable text. It has a label and can get the focus, so that the keyboard can scroll it. */
export function scrollable(label: string, kind: string, ...text: readonly Child[]): HTMLPreElement {
  return element('pre', { class: kind, tabindex: '0', role: 'group', 'aria-label': label }, ...text);
}

export function selection(values: readonly string[]): HTMLSelectElement {
  const options = values.map((value) => element('option', { value }, value));
  return element('select', { id: newId(), autocomplete: 'off' }, ...options);
}

/** A control, which must have an id, with its label. */
export function labelled(label: string, control: HTMLElement): HTMLElement {
  return element('div', { class: 'field' }, element('label', { for: control.id }, label), control);
}

let ids = 0;

/** Returns a new id for an element that a label or a description refers to. */
export function newId(): string {
  ids += 1;
  return `part-${ids}`;
}
