// Writes what the package takes from the service: the types of its OpenAPI document, and its licence, which npm packs
// only from the folder of the package. Nothing is written if the service, this file and the licence have not changed.
import { execFileSync } from 'node:child_process';
import { copyFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const changedAt = (path) => statSync(here(path), { throwIfNoEntry: false })?.mtimeMs ?? 0;

const TYPES = 'src/document.ts';
const LICENCE = '../../LICENSE';
const SOURCES = ['../../dist/bundled', LICENCE, 'generate.js'];

/** What the types do not need: streams have their own methods, and fetch types every header as text. */
const UNUSED = /^(application\/x-ndjson|headers|examples?)$/;

/** The response to an error of the client has the same schema as `default`. */
const isStatusError = (name) => name === '4XX';

/** Responses may get new members. An index signature would hide misspelt names. */
const isOpen = (name, value) => name === 'additionalProperties' && value === true;

/** The name of a filter says what it does. */
const isFilter = (value) => value?.in === 'query' && value.name.includes('.');

const oldest = Math.min(changedAt(TYPES), changedAt('LICENSE'));
if (oldest <= Math.max(...SOURCES.map(changedAt))) await generate();

async function generate() {
  const text = execFileSync(process.execPath, [here('../../dist/bundle/cli.js'), 'openapi'], {
    encoding: 'utf8',
    // The document with the default settings: some settings change it.
    env: {},
    maxBuffer: 2 ** 26,
  });
  const document = JSON.parse(text, (name, value) => {
    if (UNUSED.test(name) || isStatusError(name) || isOpen(name, value)) return undefined;
    if (isFilter(value)) delete value.description;
    return value;
  });
  // Programs read the document too, which does not describe itself.
  document.paths['/openapi.json'] = {
    get: {
      operationId: 'getOpenApi',
      responses: {
        200: {
          description: 'The document.',
          content: { 'application/json': { schema: { type: 'object' } } },
        },
        default: { $ref: '#/components/responses/Failed' },
      },
    },
  };
  // The codes are an extension of each operation, because new ones may come.
  const operations = Object.values(document.paths).flatMap(Object.values);
  const codes = [document, ...operations].flatMap((each) => Object.values(each['x-error-codes'] ?? {}).flat());
  document.components.schemas.Error.properties.code.enum = [...new Set(codes)].sort();

  // The type of a filter is shorter than a reference to it.
  const { responses, parameters } = document.components;
  for (const operation of operations)
    operation.parameters = operation.parameters?.map((parameter) => {
      const shared = parameters[parameter.$ref?.split('/').at(-1)];
      return shared?.in === 'query' ? shared : parameter;
    });

  // Nothing refers to filters, and to the errors of a status, any more.
  const rest = JSON.stringify(document);
  for (const [section, shared] of Object.entries({ responses, parameters }))
    for (const name in shared) if (!rest.includes(`/${section}/${name}"`)) delete shared[name];

  const { default: openapiTS, astToString } = await import('openapi-typescript');
  const types = await openapiTS(document, { silent: true });
  copyFileSync(here(LICENCE), here('LICENSE'));
  // Last, and at once: a run that was interrupted is repeated.
  writeFileSync(here(`${TYPES}.new`), astToString(types));
  renameSync(here(`${TYPES}.new`), here(TYPES));
}
