import { type ContentDescription, notModified, type OperationDescription } from '../openapi/description.js';
import { SCRIPT_TYPE, STYLE_TYPE } from './page-files.js';

function text(...types: readonly string[]): Record<string, ContentDescription> {
  return Object.fromEntries(types.map((type) => [type, { schema: { type: 'string' } }]));
}

export const PAGE_DESCRIPTION: OperationDescription = {
  id: 'getDocs',
  tag: 'Documents',
  summary: 'Open the interactive reference',
  text: 'A web page that shows this document and lets you try every operation.',
  headers: ['KnownTags', 'AcceptEncoding'],
  answers: [
    {
      status: 200,
      description: 'The page.',
      headers: ['ETag', 'Content-Encoding'],
      content: text('text/html'),
    },
    notModified(),
  ],
};

export const FILE_DESCRIPTION: OperationDescription = {
  id: 'getDocsFile',
  tag: 'Documents',
  summary: 'Read a file of the interactive reference',
  headers: ['KnownTags', 'AcceptEncoding'],
  answers: [
    {
      status: 200,
      description: 'A script or the style sheet.',
      headers: ['ETag', 'Content-Encoding'],
      content: text(SCRIPT_TYPE, STYLE_TYPE),
    },
    notModified(),
  ],
  errors: ['not_found'],
};
