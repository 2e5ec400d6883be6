import type { Access } from './access.js';
import { scrolling, statusBadge } from './answer-view.js';
import { written } from './body-editor.js';
import { type Child, disclosure, element } from './element.js';
import type { Content, Header, RequestBody, Response } from './openapi.js';
import type { Operation } from './operations.js';
import { marked, prose } from './prose.js';
import type { References } from './references.js';
import { givenExamples } from './sample.js';
import { schemaView } from './schema-view.js';
import { Trial, type TryItContext } from './trial.js';

/** One operation: a line, and all about it once it is opened. */
export function operationView(operation: Operation, around: TryItContext): HTMLElement {
  const { id, method, path, summary, isDeprecated } = operation;
  const line = element(
    'h3',
    {},
    methodBadge(method),
    ' ',
    element('code', { class: 'path' }, path),
    ' ',
    element('span', { class: 'summary' }, summary),
    !operation.access.takesKey && element('span', { class: 'tag' }, 'public'),
    isDeprecated && element('span', { class: 'tag deprecated' }, 'deprecated'),
  );
  return disclosure([line], () => [content(operation, around)], { class: 'operation', id });
}

export function methodBadge(method: string): HTMLElement {
  return element('span', { class: `method method-${method.toLowerCase()}` }, method);
}

function content(operation: Operation, around: TryItContext): HTMLElement {
  const { references } = around;
  return element(
    'div',
    { class: 'content' },
    prose(operation.description),
    accessView(operation.access),
    operation.body && bodyView(operation.body, references),
    element('h4', {}, 'Try it'),
    new Trial(operation, around).view,
    element('h4', {}, 'Responses'),
    ...operation.responses.map(([status, response]) => responseView(status, response, references)),
    element('p', { class: 'note' }, element('a', { href: `#${operation.id}` }, 'Link to this operation')),
  );
}

function accessView({ takesKey, needsKey, scopes, others }: Access): HTMLElement {
  const named = scopes.flatMap((scope, at): Child[] => [at > 0 && ', ', element('code', {}, scope)]);
  const scoped = scopes.length > 0 ? [' with ', ...named] : [];
  const key = needsKey
    ? ['Needs a key', ...scoped, '.']
    : ['Needs no key. If you send one, it must be valid.'];
  const open = others.length > 0 ? others.flatMap((text) => marked(text)) : ['Needs no key.'];
  return element('p', { class: 'access' }, ...(takesKey ? key : open));
}

function bodyView({ content: types }: RequestBody, references: References): HTMLElement {
  return disclosure(['Request body'], () => mediaViews(types, references, false), { class: 'fold' });
}

function responseView(status: string, response: Response, references: References): HTMLElement {
  const line = [statusBadge(status), ' ', element('span', {}, ...marked(response.description ?? ''))];
  const headers = Object.entries(response.headers ?? {});
  const types = response.content ?? {};
  if (headers.length + Object.keys(types).length === 0) return element('p', { class: 'response' }, ...line);
  const inside = () => [...mediaViews(types, references, true), headersView(headers, references)];
  return disclosure(line, inside, { class: 'response' });
}

function headersView(headers: [string, Header | { $ref: string }][], references: References): Child {
  if (headers.length === 0) return undefined;
  const items = headers.flatMap(([name, referable]) => {
    const { description = '' } = references.resolve<Header>(referable);
    return [element('dt', {}, element('code', {}, name)), element('dd', {}, ...marked(description))];
  });
  const count = element('span', { class: 'count' }, String(headers.length));
  const list = () => [element('dl', { class: 'headers' }, ...items)];
  return disclosure(['Headers ', count], list, { class: 'fold' });
}

function mediaViews(types: Content, references: References, isShown: boolean): Child[] {
  return Object.entries(types).map(([type, media]) => {
    const examples = isShown ? givenExamples(media, references) : [];
    return element(
      'div',
      { class: 'media' },
      element('p', {}, element('code', {}, type)),
      schemaView(media.schema, references),
      ...examples.flatMap(({ name, value }) => [
        element('p', { class: 'note' }, name),
        scrolling(`${name}, ${type}`, 'example', written(value, type)),
      ]),
    );
  });
}
