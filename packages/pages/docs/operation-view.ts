import type { Access } from './access.js';
import { serialized } from './body-editor.js';
import { type Child, disclosure, element, scrollable } from './element.js';
import { givenExamples } from './examples.js';
import { colouredJson } from './json-text.js';
import { inlineMarkdown, markdown } from './markdown.js';
import type { Content, Header, RequestBody, Response } from './openapi.js';
import type { Operation } from './operations.js';
import type { References } from './references.js';
import { statusBadge } from './response-view.js';
import { schemaView } from './schema-view.js';
import { type TryItContext, TryItForm } from './try-it-form.js';

/** One operation: a line that opens to show the details. */
export function operationView(operation: Operation, context: TryItContext): HTMLElement {
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
  return disclosure([line], () => [content(operation, context)], { class: 'operation', id });
}

export function methodBadge(method: string): HTMLElement {
  return element('span', { class: `method method-${method.toLowerCase()}` }, method);
}

/** On wide screens the request is beside the response, and the code beside the documented responses. */
function content(operation: Operation, context: TryItContext): HTMLElement {
  const { references } = context;
  const { form, response, code } = new TryItForm(operation, context);
  return element(
    'div',
    { class: 'content' },
    markdown(operation.description),
    accessView(operation.access),
    operation.body && bodyView(operation.body, references),
    element('div', { class: 'sides' }, form, response, code.view, responsesView(operation, references)),
    element('p', { class: 'note' }, element('a', { href: `#${operation.id}` }, 'Link to this operation')),
  );
}

function accessView({ takesKey, needsKey, scopes, others }: Access): HTMLElement {
  const named = scopes.flatMap((scope, at): Child[] => [at > 0 && ', ', element('code', {}, scope)]);
  const scoped = scopes.length > 0 ? [' with ', ...named] : [];
  const key = needsKey ? ['Needs a key', ...scoped, '.'] : ['Needs no key. If you send one, it must be valid.'];
  const open = others.length > 0 ? others.flatMap((text) => inlineMarkdown(text)) : ['Needs no key.'];
  return element('p', { class: 'access' }, ...(takesKey ? key : open));
}

function bodyView({ content: types }: RequestBody, references: References): HTMLElement {
  return disclosure(['Request body'], () => mediaViews(types, references, false), { class: 'fold' });
}

function responsesView({ responses, errorCodes }: Operation, references: References): HTMLElement {
  const codes = errorCodes.flatMap((code, at): Child[] => [at > 0 && ', ', errorLink(code)]);
  return element(
    'div',
    { class: 'responses' },
    element('h4', {}, 'Documented responses'),
    ...responses.map(([status, response]) => responseView(status, response, references)),
    codes.length > 0 && element('p', { class: 'note' }, 'Error codes: ', ...codes),
  );
}

function errorLink(code: string): HTMLElement {
  return element('a', { href: `#/errors/${code}` }, element('code', {}, code));
}

function responseView(status: string, response: Response, references: References): HTMLElement {
  const line = [statusBadge(status), ' ', element('span', {}, ...inlineMarkdown(response.description ?? ''))];
  const headers = Object.entries(response.headers ?? {});
  const types = response.content ?? {};
  if (headers.length + Object.keys(types).length === 0) return element('p', { class: 'documented' }, ...line);
  const inside = () => [...mediaViews(types, references, true), headersView(headers, references)];
  return disclosure(line, inside, { class: 'documented' });
}

function headersView(headers: [string, Header | { $ref: string }][], references: References): Child {
  if (headers.length === 0) return undefined;
  const items = headers.flatMap(([name, referable]) => {
    const { description = '' } = references.resolve<Header>(referable);
    return [element('dt', {}, element('code', {}, name)), element('dd', {}, ...inlineMarkdown(description))];
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
        scrollable(`${name}, ${type}`, 'example', colouredJson(serialized(value, type), type)),
      ]),
    );
  });
}
