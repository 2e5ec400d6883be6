import { button, element } from './element.js';
import type { OpenApi } from './openapi.js';
import { yamlOf } from './yaml.js';

/** Links that save the document as JSON, as the service sends it, and as YAML, made here. */
export function downloads(api: OpenApi): HTMLElement {
  return element(
    'p',
    { class: 'downloads' },
    `The document itself (OpenAPI ${api.openapi}): `,
    element('a', { href: 'openapi.json', download: 'openapi.json' }, 'JSON'),
    ' · ',
    button('YAML', () => save(yamlOf(api), 'openapi.yaml'), { class: 'link' }),
  );
}

function save(text: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/yaml' }));
  element('a', { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
