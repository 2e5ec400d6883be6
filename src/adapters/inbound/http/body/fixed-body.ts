import Joi from 'joi';
import { type Issue, type IssueCode, type LocatedIssue, MAX_ISSUES } from '../../../../domain/errors.js';
import type { Field, FieldTable } from '../../../../domain/fields.js';
import { fieldCheck, issueIn } from '../../../../domain/validation.js';

const CODES: Readonly<Record<string, IssueCode>> = {
  'any.required': 'required',
  'any.unknown': 'read_only_field',
  'object.base': 'invalid_type',
  'object.unknown': 'unknown_field',
};

/**
 * Makes the validator of a body that has the same members in every version, some of which only the service sets: that of
 * an API key or a webhook. joi says which members there are, the rule of its field what is wrong with a value.
 * @param readOnly the names of the members that only the service sets
 * @returns a function that returns every issue of a body, at most {@link MAX_ISSUES}
 */
export function fixedBodyValidator(
  table: FieldTable,
  readOnly: readonly string[],
): (body: unknown) => readonly Issue[] {
  let schema: Joi.ObjectSchema | undefined;
  return (body) => {
    // Made for the first body: that takes as long as a part of the start.
    schema ??= Joi.object({
      ...Object.fromEntries(Object.entries(table).map(([name, field]) => [name, fieldSchema(field)])),
      ...Object.fromEntries(readOnly.map((name) => [name, Joi.forbidden()])),
    }).prefs({ abortEarly: false, convert: false });
    const issues = (schema.validate(body).error?.details ?? []).flatMap(issuesOf);
    return issues.slice(0, MAX_ISSUES).map((issue) => issueIn(table, issue));
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

function issuesOf({ type, path, context }: Joi.ValidationErrorItem): readonly LocatedIssue[] {
  const code = CODES[type];
  const inside: readonly LocatedIssue[] = code ? [{ code, path: [] }] : context?.['issues'];
  return inside.map((issue) => ({ ...issue, path: [...path, ...issue.path] }));
}
