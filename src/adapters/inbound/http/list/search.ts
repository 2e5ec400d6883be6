import { decidingWords, MAX_WORD_LENGTH, queryWords } from '../../../../application/search/tokenizer.js';
import type { ParameterIssue } from '../core/error-codes.js';
import { invalid } from '../query/query.js';
import type { Condition } from './filter-operators.js';

/** The name of the parameter that searches by words. */
export const SEARCH = 'q';

/** The limit of words in a search. */
const MAX_WORDS = 10;

/** The parameter `q`, such as `q=desk lamp`: each word is the beginning of a word of the record. */
export function searchParameter(): Condition {
  return {
    issues,
    filters: (text) => [{ field: 'q', operator: 'search', words: decidingWords(queryWords(text)) }],
  };
}

function issues(text: string): ParameterIssue[] {
  const words = queryWords(text);
  const isTooLong = words.some((word) => word.length > MAX_WORD_LENGTH && [...word].length > MAX_WORD_LENGTH);
  return [
    ...(words.length === 0 ? [noWord(text)] : []),
    ...(words.length > MAX_WORDS ? [invalid(SEARCH, 'too_long', `takes at most ${MAX_WORDS} words`)] : []),
    ...(isTooLong
      ? [invalid(SEARCH, 'too_long', `takes words of at most ${MAX_WORD_LENGTH} characters`)]
      : []),
  ];
}

function noWord(text: string): ParameterIssue {
  return invalid(SEARCH, text === '' ? 'too_short' : 'invalid_format', 'takes a word: letters or digits');
}
