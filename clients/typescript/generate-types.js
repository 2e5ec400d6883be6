// Writes src/document.ts, the types of the document that the built service prints.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Media types that the plain methods do not use: streams have their own methods. */
const LEFT_OUT = ['application/x-ndjson', 'application/problem+json'];

const text = execFileSync(process.execPath, [here('../../dist/cli.js'), 'openapi'], {
  encoding: 'utf8',
  // The document with the default settings: some settings change it.
  env: {},
  maxBuffer: 2 ** 26,
});
const document = JSON.parse(text, (_, value) => {
  for (const type of LEFT_OUT) delete value?.content?.[type];
  return value;
});
const types = await openapiTS(document, { silent: true });
writeFileSync(here('src/document.ts'), astToString(types));
