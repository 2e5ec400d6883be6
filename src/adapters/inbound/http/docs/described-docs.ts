import type { AnswerDescription, ContentDescription, OperationDescription } from '../openapi/description.js';
import { SCRIPT_TYPE, STYLE_TYPE } from './page-files.js';

const NOTHING_NEW: AnswerDescription = {
  status: 304,
  description: 'As `If-None-Match` has it: nothing new.',
  headers: ['ETag'],
};

function text(...types: readonly string[]): Record<string, ContentDescription> {
  return Object.fromEntries(types.map((type) => [type, { schema: { type: 'string' } }]));
}

export const PAGE_DESCRIPTION: OperationDescription = {
  id: 'getDocs',
  tag: 'Documents',
  summary: 'This description for people',
  text: 'A page in which every operation can be tried, in a browser.',
  headers: ['KnownTags', 'AcceptEncoding'],
  answers: [
    {
      status: 200,
      description: 'The page.',
      headers: ['ETag', 'Content-Encoding'],
      content: text('text/html'),
    },
    NOTHING_NEW,
  ],
};

export const FILE_DESCRIPTION: OperationDescription = {
  id: 'getDocsFile',
  tag: 'Documents',
  summary: 'What that page is made of',
  headers: ['KnownTags', 'AcceptEncoding'],
  answers: [
    {
      status: 200,
      description: 'A script, or the style.',
      headers: ['ETag', 'Content-Encoding'],
      content: text(SCRIPT_TYPE, STYLE_TYPE),
    },
    NOTHING_NEW,
  ],
  errors: ['not_found'],
};
