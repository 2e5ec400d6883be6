import { fieldIssue, type Issue } from '../../../../domain/errors.js';
import type { FieldTable } from '../../../../domain/fields.js';
import { issueIn } from '../../../../domain/rules.js';
import { entityIssues } from '../../../../domain/validation.js';
import { truncateJson } from './truncate-json.js';

/** More values than any record has. It limits the issues of one response. */
const MAX_VALIDATED = 2_000;

/**
 * Makes a function that returns every issue of a body. Of a very long body, only the beginning is validated.
 * @param table the fields that a body may have
 * @param readOnly the names of fields that only the service sets
 */
export function bodyValidator(
  table: FieldTable,
  readOnly: readonly string[],
): (body: unknown) => readonly Issue[] {
  const issuesOf = entityIssues(table, readOnly);
  return (body) => {
    const { value, isWhole } = truncateJson(body, MAX_VALIDATED);
    const issues = issuesOf(value).map((issue) => issueIn(table, issue));
    if (isWhole) return issues;
    // A field that is missing may have been cut off.
    const certain = issues.filter(({ code }) => code !== 'required');
    return certain.length > 0 ? certain : [TOO_LONG];
  };
}

const TOO_LONG = fieldIssue('too_long', [], `must have at most ${MAX_VALIDATED} values`);
