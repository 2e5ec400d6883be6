import { copy } from './clipboard.js';
import { CA_FILE, CODE_SAMPLES } from './code-samples.js';
import { button, element, newId, scrollable } from './element.js';
import type { ApiRequest } from './request.js';
import { remember, remembered } from './tab-storage.js';

const LANGUAGES = Object.keys(CODE_SAMPLES);
/** All code on the page changes its language together. */
const CHOICE = new EventTarget();

export interface CodeView {
  readonly view: HTMLElement;
  /** Shows the code for the current values of the form. */
  update(): void;
}

/** The request of a form as code, with a choice of the language, which the tab remembers. */
export function codeView(request: () => ApiRequest, usesOwnCa: boolean): CodeView {
  const code = scrollable('The request as code', 'code', '');
  const note = element('span', { class: 'note', role: 'status' });
  const group = newId();
  const radios = LANGUAGES.map((value) => element('input', { type: 'radio', name: group, value, autocomplete: 'off' }));
  const update = () => {
    const language = chosen();
    for (const radio of radios) radio.checked = radio.value === language;
    note.textContent = '';
    code.textContent = CODE_SAMPLES[language]?.(request(), usesOwnCa) ?? '';
  };
  for (const radio of radios)
    radio.addEventListener('change', () => {
      remember('language', radio.value);
      CHOICE.dispatchEvent(new Event('change'));
    });
  CHOICE.addEventListener('change', update);
  const copyButton = button('Copy', async () => {
    const isCopied = await copy(code.textContent ?? '', code);
    note.textContent = isCopied
      ? 'Copied.'
      : 'The browser does not allow copying. The text is selected: copy it yourself.';
  });
  const labels = radios.map((radio) => element('label', { class: 'language' }, radio, radio.value));
  const view = element(
    'div',
    { class: 'request-code' },
    element('h4', {}, 'Code'),
    element(
      'div',
      { class: 'code-bar' },
      element('div', { class: 'languages', role: 'radiogroup', 'aria-label': 'Language' }, ...labels),
      copyButton,
      note,
    ),
    code,
    element('p', { class: 'note' }, ...hints(usesOwnCa)),
  );
  update();
  return { view, update };
}

function chosen(): string {
  const language = remembered('language') ?? '';
  return LANGUAGES.includes(language) ? language : `${LANGUAGES[0]}`;
}

function hints(usesOwnCa: boolean) {
  const key = ['Set the environment variable ', element('code', {}, 'API_KEY'), ' to your key.'];
  if (!usesOwnCa) return key;
  return [...key, ' ', element('code', {}, CA_FILE), ' is in the folder in which the service runs.'];
}
