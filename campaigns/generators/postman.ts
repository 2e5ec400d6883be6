import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Toolbox } from './toolbox.js';

interface Item {
  readonly name: string;
  readonly item?: Item[];
  readonly request?: {
    readonly method: string;
    readonly url: { readonly path: string[]; readonly variable?: { readonly key: string; value: string }[] };
    readonly body?: { raw?: string; readonly urlencoded?: { readonly key: string }[] };
  };
}

/** Fails each request whose status is not 2xx. */
const SUCCEEDS = {
  listen: 'test',
  script: {
    type: 'text/javascript',
    exec: ["pm.test('succeeds', () => pm.expect(pm.response.code).to.be.within(200, 299))"],
  },
};

/**
 * Makes a Postman collection of the document and runs it against a service without records, in the order of the
 * collection, but with DELETE last, because an order needs its user and its product. A DELETE by a second address comes
 * behind a PUT of it, because the record has gone by its id. The examples of the document name the records with id 1,
 * which the run creates. The created key has id 2, because the first key has id 1. The file is a
 * script, because the collection asks for the first of the media types.
 * @returns the number of requests
 */
export async function runPostmanCollection(
  tools: Toolbox,
  document: string,
  { url, key, authority }: { readonly url: string; readonly key: string; readonly authority: string },
): Promise<string> {
  const npm = await tools.npm();
  const path = join(npm, 'collection.json');
  const options = 'folderStrategy=Tags,parametersResolution=Example,enableOptionalParameters=false';
  await tools.run('node_modules/.bin/openapi2postmanv2', ['-s', document, '-o', path, '-O', options], npm);

  const collection = JSON.parse(readFileSync(path, 'utf8'));
  const requests = allRequests(collection.item);
  for (const { request } of requests) {
    const isKey = request?.url.path.includes('api-keys');
    for (const variable of request?.url.variable ?? [])
      variable.value = { id: isKey ? '2' : '1', file: 'main.js' }[variable.key] ?? variable.value;
    // The receiver of the example is not there.
    if (request?.body?.raw) request.body.raw = request.body.raw.replace('search.example.com', '127.0.0.1:9');
    for (const field of request?.body?.urlencoded ?? []) {
      const value = { client_id: '1', client_secret: key }[field.key];
      if (value) Object.assign(field, { value, disabled: false });
    }
  }
  const isDelete = ({ request }: Item) => request?.method === 'DELETE';
  const others = requests.filter((item) => !isDelete(item));
  const putOf = ({ request }: Item) =>
    others.filter((other) => {
      const isPut = other.request?.method === 'PUT' && !other.request.url.path.includes(':id');
      return isPut && isDeepStrictEqual(other.request?.url.path, request?.url.path);
    });
  collection.item = [...others, ...requests.filter(isDelete).flatMap((item) => [...putOf(item), item])];
  collection.event = [SUCCEEDS];
  writeFileSync(path, JSON.stringify(collection));

  const settings = [
    '--env-var',
    `baseUrl=${url}`,
    '--env-var',
    `bearerToken=${key}`,
    '--ssl-extra-ca-certs',
    authority,
  ];
  await tools.run('node_modules/.bin/newman', ['run', path, '--color', 'off', ...settings], npm);
  return `${requests.length} requests`;
}

function allRequests(items: readonly Item[]): Item[] {
  return items.flatMap((item) => (item.item ? allRequests(item.item) : [item]));
}
