import { type Child, element, scrollable } from './element.js';
import { colouredJson } from './json-text.js';
import { inlineMarkdown } from './markdown.js';
import type { OpenApi } from './openapi.js';
import type { Group } from './operations.js';
import { statusBadge } from './response-view.js';

/** The explanation of a code. */
export interface ErrorEntry {
  readonly code: string;
  readonly cause: string;
  readonly remedy: string;
}

/** The code of an error response. */
export interface ResponseError extends ErrorEntry {
  readonly status: number;
  /** The standard phrase of the status, such as `Not Found`. */
  readonly reason: string;
  readonly example: object;
}

/** The file docs/errors.json. */
export interface ErrorCodes {
  readonly responses: readonly ResponseError[];
  /** The codes in `details`. */
  readonly details: readonly ErrorEntry[];
  /** The `error` of a response of the token endpoint. */
  readonly oauth: readonly ErrorEntry[];
}

const SECTIONS = {
  details: 'Codes in details',
  oauth: 'Errors of the token endpoint',
} as const;

/** All codes with the fragments of their URLs. */
export function errorEntries({ responses, details, oauth }: ErrorCodes): [id: string, entry: ErrorEntry][] {
  const named = (prefix: string, entries: readonly ErrorEntry[]) =>
    entries.map((entry): [string, ErrorEntry] => [`/errors/${prefix}${entry.code}`, entry]);
  return [...named('', responses), ...named('details/', details), ...named('oauth/', oauth)];
}

/** All error codes, each with its status, cause, remedy and example, and the operations that respond with it. */
export function errorsPage(codes: ErrorCodes, api: OpenApi, groups: readonly Group[]): HTMLElement {
  const part = (name: keyof typeof SECTIONS) => [
    element('h2', {}, SECTIONS[name]),
    ...codes[name].map((entry) => entryView(entry, `/errors/${name}/${entry.code}`)),
  ];
  return element(
    'div',
    {},
    element('h2', { id: '/errors', tabindex: '-1' }, 'Error codes'),
    element('p', { class: 'about' }, ...INTRODUCTION),
    ...codes.responses.map((error) => responseErrorView(error, api, groups)),
    ...part('details'),
    ...part('oauth'),
  );
}

const INTRODUCTION = inlineMarkdown(
  'An error has three members: `code` for programs; `message` for people, whose wording may change; and `details`, with one entry per issue, often empty.',
);

function responseErrorView(error: ResponseError, api: OpenApi, groups: readonly Group[]): HTMLElement {
  const { code, status, reason, example } = error;
  const users = groups
    .flatMap(({ operations }) => operations)
    .filter(({ errorCodes }) => errorCodes.includes(code))
    .map(({ id, summary }) => element('li', {}, element('a', { href: `#${id}` }, summary)));
  const json = JSON.stringify(example, undefined, 2);
  const side = element(
    'div',
    {},
    scrollable(`Example of ${code}`, 'example', colouredJson(json, 'json')),
    api['x-error-codes']?.includes(code) && element('p', { class: 'note' }, 'Every operation can have it.'),
    users.length > 0 &&
      element(
        'details',
        { class: 'fold' },
        element('summary', {}, `Operations (${users.length})`),
        element('ul', {}, ...users),
      ),
  );
  const line = element('p', { class: 'status-line' }, statusBadge(String(status)), ` ${reason}`);
  return entryView(error, `/errors/${code}`, line, side);
}

function entryView({ code, cause, remedy }: ErrorEntry, id: string, line?: Child, side?: Child): HTMLElement {
  const text = element(
    'div',
    {},
    line,
    element('h4', {}, 'Meaning and cause'),
    element('p', {}, ...inlineMarkdown(cause)),
    element('h4', {}, 'What to do'),
    element('p', {}, ...inlineMarkdown(remedy)),
  );
  return element(
    'article',
    { class: 'entry', 'aria-labelledby': id },
    element('h3', { id, tabindex: '-1' }, element('code', {}, code)),
    element('div', { class: 'sides' }, text, side),
  );
}
