import { type JsonSchema, open, schemaRef, TEXT } from '../core/json-schema.js';
import { HTML, JSON_TYPE } from '../core/media-types.js';
import { DATA_TYPE, SCRIPT_TYPE, STYLE_TYPE } from '../pages/page-files.js';
import { type ContentDescription, NOT_MODIFIED, type OperationDescription } from './operation-description.js';

export const OPENAPI = documentDescription(
  {
    id: 'getOpenApi',
    summary: 'Read this document',
    text: 'In OpenAPI 3.1, made from the rules by which requests are checked. `/docs` shows it as a web page.',
  },
  'The OpenAPI document.',
  { [JSON_TYPE]: { schema: { type: 'object', additionalProperties: true } } },
);

export const DOCS = pageDescription({
  id: 'getDocs',
  summary: 'Open the interactive reference',
  text: 'A web page that shows this document and lets you try every operation.',
});

export const DOCS_FILE = fileDescription(
  {
    id: 'getDocsFile',
    summary: 'Read a file of the interactive reference',
    text: 'The page at `/docs` loads these files.',
  },
  'The script, a style sheet, or the error codes.',
  {
    ...text(SCRIPT_TYPE, STYLE_TYPE),
    [DATA_TYPE]: { schema: { type: 'object', additionalProperties: true } },
  },
);

export const CONSOLE = pageDescription({
  id: 'getConsole',
  summary: 'Open the console',
  text: 'A web page on which people find, edit, import and export records, with an API key or access token.',
});

export const CONSOLE_FILE = fileDescription(
  {
    id: 'getConsoleFile',
    summary: 'Read a file of the console',
    text: 'The page at `/console` loads these files.',
  },
  'The script or the style sheet.',
  text(SCRIPT_TYPE, STYLE_TYPE),
);

type Names = Pick<OperationDescription, 'id' | 'summary' | 'text'>;
type Contents = Readonly<Record<string, ContentDescription>>;

function pageDescription(names: Names): OperationDescription {
  return documentDescription(names, 'The page.', text(HTML));
}

function fileDescription(names: Names, description: string, content: Contents): OperationDescription {
  return { ...documentDescription(names, description, content), errors: ['not_found'] };
}

/** The documentation of a static document. */
function documentDescription(names: Names, description: string, content: Contents): OperationDescription {
  return {
    ...names,
    tag: 'Documents',
    headers: ['KnownTags'],
    responses: [{ status: 200, description, headers: ['ETag'], content }, NOT_MODIFIED],
  };
}

function text(...types: readonly string[]): Record<string, ContentDescription> {
  return Object.fromEntries(types.map((type) => [type, { schema: TEXT }]));
}

export function rootDescription(names: readonly string[]): OperationDescription {
  return {
    id: 'getRoot',
    tag: 'Documents',
    summary: 'Find the parts of the service',
    text: 'Links to every collection and document, each a path without a host. A browser is redirected to `/docs`.',
    headers: ['KnownTags'],
    schemas: { Links: linksSchema(names) },
    responses: [
      {
        status: 200,
        description: 'The links.',
        headers: ['ETag'],
        content: { [JSON_TYPE]: { schema: schemaRef('Links') } },
      },
      {
        status: 303,
        description:
          '`Accept` names `text/html` with a higher quality than JSON: `Location` is the interactive reference.',
        headers: ['Location'],
      },
      NOT_MODIFIED,
    ],
  };
}

function linksSchema(names: readonly string[]): JsonSchema {
  return open(
    Object.fromEntries(
      names.map((name) => [
        name,
        { type: 'string', format: 'uri-reference', description: `The path of \`${name}\`.` },
      ]),
    ),
  );
}

const HEALTH = open({ status: { ...TEXT, description: 'Always `ok`.' } });

export const LIVENESS = healthDescription('getLiveness', 'Check that the process is alive');
export const READINESS = healthDescription('getReadiness', 'Check that the service is ready for requests');

function healthDescription(id: string, summary: string): OperationDescription {
  return {
    id,
    tag: 'Health',
    summary,
    text: 'For load balancers and orchestrators. Needs no credential and is not counted by the rate limit.',
    schemas: { Health: HEALTH },
    responses: [
      {
        status: 200,
        description: 'It is. Otherwise the response is 503, or there is none.',
        content: { [JSON_TYPE]: { schema: schemaRef('Health') } },
      },
    ],
  };
}
