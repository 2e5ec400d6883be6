import { button, element } from './element.js';

/** What can stand in a header. */
const SENDABLE = /^[\x21-\x7e]*$/;

/**
 * The field for the key. What is pasted lives in this field and nowhere else: it has no name and is no password, so that
 * neither the history of forms nor a password manager keeps it, and it is gone with the page.
 */
export class Credential {
  readonly view: HTMLElement;
  private readonly field = element('input', {
    id: 'key',
    type: 'text',
    class: 'key masked',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
    placeholder: 'pcs_…',
    'aria-describedby': 'key-note',
  });
  private readonly note = element('p', { id: 'key-note', class: 'key-note', role: 'status' });

  constructor() {
    const show = button('Show', () => this.toggle(show), { 'aria-pressed': 'false', 'aria-controls': 'key' });
    const label = element('label', { for: 'key' }, 'API key or access token');
    this.view = element(
      'div',
      { class: 'credential' },
      label,
      element('div', { class: 'key-row' }, this.field, show),
      this.note,
    );
    this.field.addEventListener('input', () => this.tell());
    this.tell();
  }

  /** As it was pasted, without what people copy along. */
  get key(): string {
    return this.field.value.trim().replace(/^(Authorization:\s*)?Bearer\s+/i, '');
  }

  private toggle(show: HTMLElement): void {
    const isMasked = this.field.classList.toggle('masked');
    show.setAttribute('aria-pressed', String(!isMasked));
  }

  private tell(): void {
    const isSendable = SENDABLE.test(this.key);
    this.field.setAttribute('aria-invalid', String(!isSendable));
    this.note.textContent = isSendable ? this.kept() : 'This has characters that cannot be in a key.';
  }

  private kept(): string {
    return this.key === ''
      ? 'Without a key you can try only public operations.'
      : 'Sent with each request that you try, and kept only in this page.';
  }
}
