import { DATA_TYPE, SCRIPT_TYPE, STYLE_TYPE } from '../pages/page-files.js';
import type { PageDescriptions } from '../pages/page-routes.js';
import { type ContentDescription, NOT_MODIFIED, type OperationDescription } from './description.js';
import { TEXT } from './json-schema.js';

export const OPENAPI_DESCRIPTION = documentDescription(
  {
    id: 'getOpenApi',
    summary: 'Read this document',
    text: 'In OpenAPI 3.1, made from the rules by which requests are checked. `/docs` shows it as a web page.',
  },
  'The OpenAPI document.',
  { 'application/json': { schema: { type: 'object', additionalProperties: true } } },
);

export const DOCS: PageDescriptions = {
  page: pageDescription({
    id: 'getDocs',
    summary: 'Open the interactive reference',
    text: 'A web page that shows this document and lets you try every operation.',
  }),
  file: fileDescription(
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
  ),
};

export const CONSOLE: PageDescriptions = {
  page: pageDescription({
    id: 'getConsole',
    summary: 'Open the console',
    text: 'A web page on which people find, edit, import and export records, with an API key or access token.',
  }),
  file: fileDescription(
    {
      id: 'getConsoleFile',
      summary: 'Read a file of the console',
      text: 'The page at `/console` loads these files.',
    },
    'The script or the style sheet.',
    text(SCRIPT_TYPE, STYLE_TYPE),
  ),
};

type Names = Pick<OperationDescription, 'id' | 'summary' | 'text'>;
type Contents = Readonly<Record<string, ContentDescription>>;

function pageDescription(names: Names): OperationDescription {
  return documentDescription(names, 'The page.', text('text/html'));
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
