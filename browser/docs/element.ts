export type Child = Node | string | undefined | false;
export type Attributes = Readonly<Record<string, string | boolean | undefined>>;

/**
 * Makes an element. Every text becomes a text node, so that nothing that a document or an answer says is ever markup.
 * @param attributes `true` is one without a value; `false` and `undefined` are none
 */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(attribute, value === true ? '' : value);
  }
  made.append(...children.filter((child) => child !== undefined && child !== false));
  return made;
}

export function button(label: string, act: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, label);
  made.addEventListener('click', act);
  return made;
}

/** What opens and closes; its content is made when it is first opened, so that a long document is shown at once. */
export function disclosure(
  summary: readonly Child[],
  content: () => readonly Child[],
  attributes: Attributes = {},
): HTMLDetailsElement {
  const made = element('details', attributes, element('summary', {}, ...summary));
  let isFilled = false;
  const fill = () => {
    if (isFilled || !made.open) return;
    isFilled = true;
    made.append(...content().filter((child) => child !== undefined && child !== false));
  };
  made.addEventListener('toggle', fill);
  fill();
  return made;
}

let names = 0;

/** A name for an element that a label or a description refers to. */
export function newName(): string {
  names += 1;
  return `part-${names}`;
}
