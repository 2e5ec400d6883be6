import { button, element } from './element.js';

/** The characters that a header may contain. */
const SENDABLE = /^[\x21-\x7e]*$/;

/**
 * The field for the key. The key exists only in this field, until the page is closed. The field has no name and is not
 * a password field, so that neither the form history nor a password manager stores the key.
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
    this.field.addEventListener('input', () => this.updateNote());
    this.updateNote();
  }

  /** The key, without the parts of the header that people copy too. */
  get key(): string {
    return this.field.value.trim().replace(/^(Authorization:\s*)?Bearer\s+/i, '');
  }

  private toggle(show: HTMLElement): void {
    const isMasked = this.field.classList.toggle('masked');
    show.setAttribute('aria-pressed', String(!isMasked));
  }

  private updateNote(): void {
    const isSendable = SENDABLE.test(this.key);
    this.field.setAttribute('aria-invalid', String(!isSendable));
    this.note.textContent = isSendable ? this.hint() : 'This has characters that cannot be in a key.';
  }

  private hint(): string {
    return this.key === ''
      ? 'Without a key you can try only public operations.'
      : 'Sent with each request that you try, and kept only in this page.';
  }
}
