import { SCRIPT_TYPE, STYLE_TYPE } from '../docs/page-files.js';
import { type ContentDescription, describedDocument, type OperationDescription } from './description.js';

export const PAGE_DESCRIPTION = describedDocument(
  {
    id: 'getDocs',
    summary: 'Open the interactive reference',
    text: 'A web page that shows this document and lets you try every operation.',
  },
  'The page.',
  text('text/html'),
);

export const FILE_DESCRIPTION: OperationDescription = {
  ...describedDocument(
    { id: 'getDocsFile', summary: 'Read a file of the interactive reference' },
    'A script or the style sheet.',
    text(SCRIPT_TYPE, STYLE_TYPE),
  ),
  errors: ['not_found'],
};

function text(...types: readonly string[]): Record<string, ContentDescription> {
  return Object.fromEntries(types.map((type) => [type, { schema: { type: 'string' } }]));
}
