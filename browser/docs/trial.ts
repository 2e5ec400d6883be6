import { issueView, responseView, scrolling, statusLine } from './answer-view.js';
import { type Attempt, attemptOf, type Typed } from './attempt.js';
import { type BodyEditor, bodyEditor, labelled, selection } from './body-editor.js';
import { copy } from './copying.js';
import type { Credential } from './credential.js';
import { curlOf } from './curl.js';
import { button, element, newName } from './element.js';
import type { Operation } from './operations.js';
import { type ParameterFields, parameterFields } from './parameter-fields.js';
import type { References } from './references.js';
import { send } from './send.js';

export interface TryItContext {
  readonly references: References;
  readonly credential: Credential;
  /** The address under which the paths of the document are. */
  readonly base: string;
}

/** The service chooses what fits the request. */
const ANY = '*/*';

/** The part of an operation in which it is tried. */
export class Trial {
  readonly view: HTMLFormElement;
  private readonly fields: ParameterFields;
  private readonly body: BodyEditor | undefined;
  private readonly accept: HTMLSelectElement | undefined;
  private readonly command = scrolling('The request for curl', 'command', '');
  /** What is read out when it changes; an answer as a whole would be too long for that. */
  private readonly outcome = element('div', { class: 'outcome', role: 'status' });
  private readonly responded = element('div');
  private readonly note = element('span', { class: 'note', role: 'status' });
  private readonly sending = element('button', { type: 'submit', class: 'primary' }, 'Send');
  private readonly cancelling = button('Cancel', () => this.underway?.abort(), { hidden: true });
  private underway: AbortController | undefined;

  constructor(
    private readonly operation: Operation,
    private readonly around: TryItContext,
  ) {
    const { references } = around;
    this.fields = parameterFields(operation.parameters, references);
    this.body = operation.body && bodyEditor(operation.body, references);
    const types = responseTypes(operation);
    const id = newName();
    this.accept = types.length > 1 ? selection(id, [ANY, ...types]) : undefined;
    this.view = element(
      'form',
      { class: 'trial', autocomplete: 'off', 'aria-label': `Try ${operation.method} ${operation.path}` },
      ...this.fields.views,
      this.body?.view,
      this.accept && element('div', { class: 'fields' }, labelled('Accept', id, this.accept)),
      element('div', { class: 'actions' }, this.sending, this.cancelling, this.copying(), this.note),
      this.commandView(),
      this.outcome,
      this.responded,
    );
    this.view.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.try();
    });
    this.view.addEventListener('input', () => this.tell());
    this.tell();
  }

  private attempt(base: string): Attempt {
    const [accept, body] = [this.accept?.value ?? ANY, this.body?.typed()];
    const typed: Typed = {
      entries: this.fields.entries(),
      accept,
      ...(body && { body }),
    };
    return attemptOf(this.operation, typed, base);
  }

  private async try(): Promise<void> {
    if (this.underway) return;
    this.underway = new AbortController();
    this.show(true);
    this.responded.replaceChildren();
    this.outcome.replaceChildren(element('p', { class: 'note' }, 'Waiting for the response…'));
    try {
      const { credential, base } = this.around;
      const response = await send(this.attempt(base), credential.key, this.underway.signal);
      this.outcome.replaceChildren(statusLine(response));
      this.responded.replaceChildren(responseView(response));
    } catch (error) {
      this.outcome.replaceChildren(issueView(error));
    } finally {
      this.underway = undefined;
      this.show(false);
    }
  }

  /** A control that has the focus and goes takes the focus with it; the other one gets it. */
  private show(isUnderway: boolean): void {
    const [going, coming] = isUnderway ? [this.sending, this.cancelling] : [this.cancelling, this.sending];
    const hadFocus = document.activeElement === going;
    going.hidden = true;
    coming.hidden = false;
    if (hadFocus) coming.focus();
  }

  private tell(): void {
    this.command.textContent = curlOf(this.attempt(this.around.base));
  }

  private copying(): HTMLElement {
    return button('Copy as curl', async () => {
      this.tell();
      this.command.closest('details')?.setAttribute('open', '');
      this.note.textContent = await copy(this.command.textContent ?? '', this.command);
    });
  }

  private commandView(): HTMLElement {
    const isLocal = /^(localhost|127\.|\[::1\])/.test(new URL(this.around.base).hostname);
    const hint = 'If the service uses its own certificate, add --cacert data/tls/ca.pem.';
    return element(
      'details',
      { class: 'fold' },
      element('summary', {}, 'As a curl command'),
      this.command,
      isLocal && element('p', { class: 'note' }, hint),
    );
  }
}

/** The media types of the answers, those of successes first. */
function responseTypes({ responses }: Operation): string[] {
  const ordered = [...responses].sort(([one], [other]) => one.localeCompare(other));
  return [...new Set(ordered.flatMap(([, { content }]) => Object.keys(content ?? {})))];
}
