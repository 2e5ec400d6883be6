import { SCRIPT_TYPE, STYLE_TYPE } from '../docs/page-files.js';
import { type ContentDescription, notModified, type OperationDescription } from './description.js';

export const OPENAPI_DESCRIPTION = documentDescription(
  {
    id: 'getOpenApi',
    summary: 'Read this document',
    text: 'In OpenAPI 3.1, made from the rules by which requests are checked. `/docs` shows it as a web page.',
  },
  'The OpenAPI document.',
  { 'application/json': { schema: { type: 'object' } } },
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
    { id: 'getDocsFile', summary: 'Read a file of the interactive reference' },
    'A script or the style sheet.',
    text(SCRIPT_TYPE, STYLE_TYPE),
  ),
  errors: ['not_found'],
};

/** The documentation of a static document. */
function documentDescription(
  { id, summary, text }: Pick<OperationDescription, 'id' | 'summary' | 'text'>,
  description: string,
  content: Readonly<Record<string, ContentDescription>>,
): OperationDescription {
  return {
    id,
    tag: 'Documents',
    summary,
    ...(text !== undefined && { text }),
    headers: ['KnownTags', 'AcceptEncoding'],
    responses: [{ status: 200, description, headers: ['ETag', 'Content-Encoding'], content }, notModified()],
  };
}

function text(...types: readonly string[]): Record<string, ContentDescription> {
  return Object.fromEntries(types.map((type) => [type, { schema: { type: 'string' } }]));
}
