import { type BodyEditor, bodyEditor } from './body-editor.js';
import { type CodeView, codeView } from './code-view.js';
import type { Credential } from './credential.js';
import { button, element, labelled, selection } from './element.js';
import type { Operation } from './operations.js';
import { type ParameterFields, parameterFields } from './parameter-fields.js';
import type { References } from './references.js';
import { type ApiRequest, buildRequest } from './request.js';
import { failureView, responseView, statusLine } from './response-view.js';
import { send } from './send.js';

export interface TryItContext {
  readonly references: References;
  readonly credential: Credential;
  /** The URL that the paths of the document are relative to. */
  readonly base: string;
  /** Whether programs must trust the certificate authority of the service itself. */
  readonly usesOwnCa: boolean;
}

const ANY = 'any';

/** The form in which a person tries an operation, the response, and the same request as code. */
export class TryItForm {
  readonly form: HTMLFormElement;
  readonly response: HTMLElement;
  readonly code: CodeView;
  private readonly fields: ParameterFields;
  private readonly body: BodyEditor | undefined;
  private readonly accept: HTMLSelectElement | undefined;
  /** Screen readers read it out when it changes. A whole response would be too long for that. */
  private readonly outcome = element(
    'div',
    { class: 'outcome', role: 'status' },
    element('p', { class: 'note' }, 'Send the request to see the response here.'),
  );
  private readonly received = element('div');
  private readonly sendButton = element('button', { type: 'submit', class: 'primary' }, 'Send');
  private readonly cancelButton = button('Cancel', () => this.underway?.abort(), { hidden: true });
  private underway: AbortController | undefined;

  constructor(
    private readonly operation: Operation,
    private readonly context: TryItContext,
  ) {
    const { references, usesOwnCa } = context;
    this.fields = parameterFields(operation.parameters, references);
    this.body = operation.body && bodyEditor(operation.body, references);
    const types = responseTypes(operation);
    this.accept = types.length > 1 ? selection([ANY, ...types]) : undefined;
    this.form = element(
      'form',
      {
        class: 'request',
        autocomplete: 'off',
        'aria-label': `Request ${operation.method} ${operation.path}`,
      },
      element('h4', {}, 'Request'),
      ...this.fields.views,
      this.body?.view,
      this.accept && element('div', { class: 'fields' }, labelled('Accept', this.accept)),
      element('div', { class: 'actions' }, this.sendButton, this.cancelButton),
    );
    this.response = element('div', { class: 'response' }, element('h4', {}, 'Response'), this.outcome, this.received);
    this.code = codeView(() => this.request(), usesOwnCa);
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.send();
    });
    this.form.addEventListener('input', () => this.code.update());
  }

  private request(): ApiRequest {
    const accept = this.accept?.value;
    const values = {
      parameters: this.fields.values(),
      accept: accept === ANY ? undefined : accept,
      body: this.body?.value(),
    };
    return buildRequest(this.operation, values, this.context.base);
  }

  private async send(): Promise<void> {
    if (this.underway) return;
    this.underway = new AbortController();
    this.show(true);
    this.received.replaceChildren();
    this.outcome.replaceChildren(element('p', { class: 'note' }, 'Waiting for the response…'));
    try {
      const response = await send(this.request(), this.context.credential.key, this.underway.signal);
      this.outcome.replaceChildren(statusLine(response));
      this.received.replaceChildren(responseView(response));
    } catch (error) {
      this.outcome.replaceChildren(failureView(error));
    } finally {
      this.underway = undefined;
      this.show(false);
    }
  }

  /**
   * Shows the button to send or the button to cancel. A hidden button would lose the focus, so the other one gets it.
   */
  private show(isUnderway: boolean): void {
    const buttons = [this.sendButton, this.cancelButton] as const;
    const [hidden, shown] = isUnderway ? buttons : ([buttons[1], buttons[0]] as const);
    const hadFocus = document.activeElement === hidden;
    hidden.hidden = true;
    shown.hidden = false;
    if (hadFocus) shown.focus();
  }
}

/** The media types of the responses, those of successes first. */
function responseTypes({ responses }: Operation): string[] {
  const ordered = [...responses].sort(([one], [other]) => one.localeCompare(other));
  return [...new Set(ordered.flatMap(([, { content }]) => Object.keys(content ?? {})))];
}
