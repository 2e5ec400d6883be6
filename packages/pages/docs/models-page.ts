import { element, scrollable } from './element.js';
import { exampleOf } from './examples.js';
import { colouredJson } from './json-text.js';
import type { OpenApi, Schema } from './openapi.js';
import type { Group } from './operations.js';
import type { References } from './references.js';
import { schemaView } from './schema-view.js';

/** The names of the models: the schemas that the document names. */
export function modelNames({ components }: OpenApi): string[] {
  return Object.keys(components?.schemas ?? {});
}

/** All models, each with its members, an example and the operations that use it. */
export function modelsPage(api: OpenApi, groups: readonly Group[], references: References): HTMLElement {
  const models = modelNames(api).map((name) => modelView(name, api, groups, references));
  const intro = element('p', { class: 'about' }, 'The shapes of bodies in requests and responses.');
  return element('div', {}, element('h2', { id: '/models', tabindex: '-1' }, 'Models'), intro, ...models);
}

function modelView(name: string, api: OpenApi, groups: readonly Group[], references: References): HTMLElement {
  const id = `/models/${name}`;
  const schema = references.schema({ $ref: `#/components/schemas/${name}` });
  const value = schema.examples?.[0] ?? exampleIn(api, name) ?? exampleOf(schema, references);
  const example = JSON.stringify(value, undefined, 2);
  const uses = groups
    .flatMap(({ operations }) => operations)
    .filter(({ body, responses }) => refersTo(name, [body, responses]))
    .map((operation) => element('li', {}, element('a', { href: `#${operation.id}` }, operation.summary)));
  return element(
    'article',
    { class: 'entry', 'aria-labelledby': id },
    element('h3', { id, tabindex: '-1' }, element('code', {}, name)),
    element(
      'div',
      { class: 'sides' },
      schemaView(schema, references),
      element(
        'div',
        {},
        element('h4', {}, 'Example'),
        scrollable(`Example of ${name}`, 'example', colouredJson(example, 'json')),
        uses.length > 0 && element('h4', {}, 'Used by'),
        uses.length > 0 && element('ul', {}, ...uses),
      ),
    ),
  );
}

/** The example of a model within the example of another model, such as the price of a product. */
function exampleIn({ components }: OpenApi, name: string): unknown {
  const models = Object.values(components?.schemas ?? {}).filter((one) => typeof one === 'object') as Schema[];
  const values = models.flatMap(({ properties = {}, examples = [] }) =>
    Object.entries(properties)
      .filter(([, schema]) => refersTo(name, schema))
      .flatMap(([member]) => (examples[0] as Record<string, unknown> | undefined)?.[member]),
  );
  return values.find((value) => value !== undefined);
}

function refersTo(name: string, parts: unknown): boolean {
  return JSON.stringify(parts).includes(`"#/components/schemas/${name}"`);
}
