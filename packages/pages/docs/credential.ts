import { button, element } from './element.js';
import { endKey, shareKey } from './shared-key.js';
import { remember, remembered, survivesReload } from './tab-storage.js';

/** The characters that a header may contain. */
const SENDABLE = /^[\x21-\x7e]*$/;

/**
 * The field for the key. The field has no name and is not a password field, so that neither the form history nor a
 * password manager stores the key. A reload of the tab keeps the key, unless the person unchecks that.
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
  private readonly keepBox = element('input', { id: 'keep', type: 'checkbox', autocomplete: 'off' });
  private readonly note = element('p', { id: 'key-note', class: 'key-note', role: 'status' });

  constructor() {
    const show = button('Show', () => this.toggle(show), { 'aria-pressed': 'false', 'aria-controls': 'key' });
    const signOut = button('Sign out', () => this.signOut());
    const keepLabel = element('label', { for: 'keep', class: 'keep' }, this.keepBox, ' Keep on reload');
    const label = element('label', { for: 'key' }, 'API key or access token');
    this.view = element(
      'div',
      { class: 'credential' },
      element('div', { class: 'key-labels' }, label, keepLabel),
      element('div', { class: 'key-row' }, this.field, show, signOut),
      this.note,
    );
    this.keepBox.checked = survivesReload() && remembered('keep-key') !== 'no';
    this.keepBox.disabled = !survivesReload();
    this.field.value = remembered('key') ?? '';
    this.field.addEventListener('input', () => this.update());
    this.keepBox.addEventListener('change', () => this.update());
    this.update();
    shareKey({
      key: () => remembered('key'),
      take: (key) => this.replace(key),
      drop: () => this.replace(''),
    });
  }

  /** The key, without the parts of the header that people copy too. */
  get key(): string {
    return this.field.value.trim().replace(/^(Authorization:\s*)?Bearer\s+/i, '');
  }

  private signOut(): void {
    endKey(this.key);
    this.replace('');
    this.field.focus();
  }

  private replace(key: string): void {
    this.field.value = key;
    this.update();
  }

  private toggle(show: HTMLElement): void {
    const isMasked = this.field.classList.toggle('masked');
    show.setAttribute('aria-pressed', String(!isMasked));
  }

  private update(): void {
    const isKept = this.keepBox.checked;
    remember('key', isKept && this.key !== '' ? this.key : undefined);
    remember('keep-key', isKept ? undefined : 'no');
    const isSendable = SENDABLE.test(this.key);
    this.field.setAttribute('aria-invalid', String(!isSendable));
    this.note.textContent = isSendable ? this.hint(isKept) : 'This has characters that cannot be in a key.';
  }

  private hint(isKept: boolean): string {
    if (this.key === '') return 'Without a key you can try only public operations.';
    const end = isKept ? 'Forgotten when this tab is closed.' : 'Forgotten when this page is reloaded.';
    return `Sent with each request that you try. ${end}`;
  }
}
