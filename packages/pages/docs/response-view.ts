import { type Child, element, scrollable } from './element.js';
import { colouredJson, indentedJson } from './json-text.js';
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
export function responseView({ status, body, headers, isCut }: ReceivedResponse): HTMLElement {
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  const type = headers.find(([name]) => name === 'content-type')?.[1] ?? '';
  const shown = isCut ? body : indentedJson(body);
  return element(
    'div',
    { class: 'received' },
    status >= 400 && errorLink(body),
    body === ''
      ? element('p', { class: 'note' }, 'No body.')
      : scrollable('Response body', 'response-body', colouredJson(shown, type)),
    isCut && element('p', { class: 'error' }, CUT[isCut]),
    scrollable('Response headers', 'response-headers', lines.join('\n')),
  );
}

/** A link to the explanation of the code in an error response. */
function errorLink(body: string): Child {
  const [, code] = /"code"\s*:\s*"(\w+)"/.exec(body) ?? [];
  if (code === undefined) return undefined;
  const link = element('a', { href: `#/errors/${code}` }, element('code', {}, code));
  return element('p', {}, 'What to do: ', link);
}

export function statusBadge(status: string): HTMLElement {
  return element('span', { class: `status status-${status.charAt(0)}` }, status);
}

/** Explains why there is no response. */
export function failureView(error: unknown): HTMLElement {
  return element('p', { class: 'error' }, explain(error));
}

function explain(error: unknown): string {
  const { name, message } = error as Error;
  if (name === 'AbortError') return 'Cancelled. The service may have carried out the request.';
  return `There was no response (${message}). The service cannot be reached, the connection broke off, or the request has something that browsers do not send.`;
}
