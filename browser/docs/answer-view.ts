import { element } from './element.js';
import { indentedJson } from './indented-json.js';
import { MAX_SHOWN_BYTES, type ReceivedResponse } from './send.js';

const CUT = {
  long: `The first ${MAX_SHOWN_BYTES / 1024} KiB are shown; the rest was not read.`,
  broken: 'The connection broke off here: something is missing.',
};

/** The response in one line, which screen readers read out. */
export function statusLine({ status, statusText, milliseconds, bytes }: ReceivedResponse): HTMLElement {
  const size = `${bytes.toLocaleString('en')} ${bytes === 1 ? 'byte' : 'bytes'}`;
  const measures = element('span', { class: 'terms' }, `${milliseconds} ms · ${size}`);
  return element('p', { class: 'status-line' }, statusBadge(String(status)), ` ${statusText} `, measures);
}

/** Body and headers of the response, as text. */
export function responseView({ body, headers, isCut }: ReceivedResponse): HTMLElement {
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return element(
    'div',
    { class: 'answer' },
    body === ''
      ? element('p', { class: 'note' }, 'No body.')
      : scrolling('Response body', 'answer-body', isCut ? body : indentedJson(body)),
    isCut && element('p', { class: 'fault' }, CUT[isCut]),
    scrolling('Response headers', 'answer-headers', lines.join('\n')),
  );
}

export function statusBadge(status: string): HTMLElement {
  return element('span', { class: `status status-${status.charAt(0)}` }, status);
}

/** A scrollable text. It has a label and can get the focus, so that the keyboard can scroll it. */
export function scrolling(label: string, kind: string, text: string): HTMLElement {
  return element('pre', { class: kind, tabindex: '0', role: 'group', 'aria-label': label }, text);
}

export function issueView(error: unknown): HTMLElement {
  return element('p', { class: 'fault' }, explain(error));
}

function explain(error: unknown): string {
  const { name, message } = error as Error;
  if (name === 'AbortError') return 'Cancelled. The service may have carried out the request.';
  return `There was no response (${message}). The service cannot be reached, the connection broke off, or the request has something that browsers do not send.`;
}
