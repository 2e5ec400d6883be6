import Joi from 'joi';
import { fieldIssue, type Issue, type IssueCode, type LocatedIssue } from '../../../../domain/errors.js';
import type { Field, FieldTable } from '../../../../domain/fields.js';
import { type Check, fieldCheck, issueIn } from '../../../../domain/validation.js';
import { truncateJson } from './truncate-json.js';

/** More values than any record has. The bound limits the work for an invalid body, and joi's stack. */
const MAX_VALIDATED = 2_000;
const TOO_LONG = fieldIssue('too_long', [], `must have at most ${MAX_VALIDATED} values`);
const NO_ISSUES: readonly Issue[] = [];

/**
 * Makes a function that returns every issue of a body. Of a very long body, only the beginning is validated.
 * @param table the fields that a body may have
 */
export function bodyValidator(table: FieldTable, check: Check): (body: unknown) => readonly Issue[] {
  return (body) => {
    const { value, isWhole } = truncateJson(body, MAX_VALIDATED);
    const found = check(value);
    // A field that is missing may have been cut off.
    const certain = isWhole ? found : found.filter(({ code }) => code !== 'required');
    if (certain.length > 0) return certain.map((issue) => issueIn(table, issue));
    return isWhole ? NO_ISSUES : [TOO_LONG];
  };
}

const CODES: Readonly<Record<string, IssueCode>> = {
  'any.required': 'required',
  'any.unknown': 'read_only_field',
  'object.unknown': 'unknown_field',
};

/**
 * The check of a body with members that only the service sets. joi says which members there are, and the rule of its
 * field what is wrong with each value.
 * @param readOnly the names of those members
 */
export function fixedBodyCheck(table: FieldTable, readOnly: readonly string[]): Check {
  let schema: Joi.ObjectSchema | undefined;
  return (body) => {
    // Made for the first body: that takes as long as a part of the start.
    schema ??= Joi.object({
      ...Object.fromEntries(Object.entries(table).map(([name, field]) => [name, fieldSchema(field)])),
      ...Object.fromEntries(readOnly.map((name) => [name, Joi.forbidden()])),
    }).prefs({ abortEarly: false, convert: false });
    return (schema.validate(body).error?.details ?? []).flatMap(({ type, path, context }) => {
      const code = CODES[type];
      const issues: readonly LocatedIssue[] = code ? [{ code, path: [] }] : context?.['issues'];
      return issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] }));
    });
  };
}

function fieldSchema(field: Field): Joi.AnySchema {
  const check = fieldCheck(field);
  return Joi.any()
    .custom((value: unknown, { error }) => {
      const issues = check(value);
      return issues.length === 0 ? value : error('issues', { issues });
    })
    .presence(field.required ? 'required' : 'optional');
}
