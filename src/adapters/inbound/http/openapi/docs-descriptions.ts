import { DATA_TYPE, SCRIPT_TYPE, STYLE_TYPE } from '../docs/page-files.js';
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

export const PAGE_DESCRIPTION = documentDescription(
  {
    id: 'getDocs',
    summary: 'Open the interactive reference',
    text: 'A web page that shows this document and lets you try every operation.',
  },
  'The page.',
  text('text/html'),
);

export const FILE_DESCRIPTION: OperationDescription = {
  ...documentDescription(
    {
      id: 'getDocsFile',
      summary: 'Read a file of the interactive reference',
      text: 'The page at `/docs` loads these files.',
    },
    'A script, the style sheet, or the error codes.',
    {
      ...text(SCRIPT_TYPE, STYLE_TYPE),
      [DATA_TYPE]: { schema: { type: 'object', additionalProperties: true } },
    },
  ),
  errors: ['not_found'],
};

/** The documentation of a static document. */
function documentDescription(
  names: Pick<OperationDescription, 'id' | 'summary' | 'text'>,
  description: string,
  content: Readonly<Record<string, ContentDescription>>,
): OperationDescription {
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
