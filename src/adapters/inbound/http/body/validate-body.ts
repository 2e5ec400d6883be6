import Joi from 'joi';
import { validateAttributes } from '../../../../domain/attributes.js';
import { fieldIssue, type Issue, type IssueCode } from '../../../../domain/errors.js';
import type { Field, FieldTable } from '../../../../domain/fields.js';
import { parseInstant } from '../../../../domain/instant.js';
import { REFERENCE } from '../../../../domain/references.js';
import { issueIn, type LocatedIssue } from '../../../../domain/rules.js';
import { validateText } from '../../../../domain/text.js';
import { codeIssues, entityValidity, formIssues, repetitionsIn } from '../../../../domain/validation.js';
import { truncateJson } from './truncate-json.js';

/** The contract's code for each of joi's error types. The rules in this file report the contract's codes themselves. */
const CODES: Readonly<Record<string, IssueCode>> = {
  'any.required': 'required',
  'any.unknown': 'read_only_field',
  'object.unknown': 'unknown_field',
  'object.base': 'invalid_type',
  'array.base': 'invalid_type',
  'array.min': 'too_short',
  'array.max': 'too_long',
  'string.base': 'invalid_type',
  'boolean.base': 'invalid_type',
  'number.base': 'invalid_type',
  'number.integer': 'invalid_type',
  'number.unsafe': 'out_of_range',
  'number.infinity': 'out_of_range',
  'number.min': 'out_of_range',
  'number.max': 'out_of_range',
  'string.empty': 'too_short',
  'string.pattern.base': 'invalid_format',
};

/** Returns the paths to elements that repeat an earlier one. Elements may be of any type. */
type Repetitions = (elements: readonly unknown[]) => (readonly (string | number)[])[];

/** Returns every issue of a text. */
type TextRules = (text: string) => readonly IssueCode[];

type Types = Joi.Root & {
  text(): Joi.AnySchema & { following(rules: TextRules): Joi.AnySchema };
  attributes(): Joi.ObjectSchema;
  list(): Joi.ArraySchema & { distinct(repetitions: Repetitions): Joi.ArraySchema };
};

/** The array in which a joi rule returns several errors. joi's types do not declare it. */
type ManyErrors = Joi.CustomHelpers & { errorsArray(): Joi.ErrorReport[] };

/** The rules of the domain as joi types. Their errors have the contract's codes. */
const makeTypes = (): Types =>
  Joi.extend(
    (joi) => ({
      type: 'text',
      base: joi.any(),
      validate(value: unknown, helpers) {
        return typeof value === 'string' ? undefined : { value, errors: helpers.error('invalid_type') };
      },
      rules: {
        following: {
          args: ['rules'],
          method(rules: TextRules) {
            return this.$_addRule({ name: 'following', args: { rules } });
          },
          validate(value: string, helpers, { rules }: { rules: TextRules }) {
            return withIssues(
              value,
              rules(value).map((code) => ({ code, path: [] })),
              helpers,
            );
          },
        },
      },
    }),
    (joi) => ({
      type: 'attributes',
      base: joi.object().unknown(),
      validate(value: Readonly<Record<string, unknown>>, helpers) {
        const errors = errorReports(validateAttributes(value), helpers);
        return errors.length === 0 ? undefined : { value, errors };
      },
    }),
    (joi) => ({
      type: 'list',
      base: joi.array(),
      rules: {
        distinct: {
          args: ['repetitions'],
          method(repetitions: Repetitions) {
            return this.$_addRule({ name: 'distinct', args: { repetitions } });
          },
          validate(value: readonly unknown[], helpers, { repetitions }: { repetitions: Repetitions }) {
            const issues = repetitions(value).map((path) => ({ code: 'duplicate_value' as const, path }));
            return withIssues(value, issues, helpers);
          },
        },
      },
    }),
  ) as Types;

let types: Types | undefined;

/** Made for the first invalid body: that takes as long as a part of the start. */
function rules(): Types {
  types ??= makeTypes();
  return types;
}

function withIssues<Value>(value: Value, issues: readonly LocatedIssue[], helpers: Joi.CustomHelpers) {
  if (issues.length === 0) return value;
  const errors = (helpers as ManyErrors).errorsArray();
  errors.push(...errorReports(issues, helpers));
  return errors;
}

function errorReports(
  issues: readonly LocatedIssue[],
  { error, state }: Joi.CustomHelpers,
): Joi.ErrorReport[] {
  return issues.map(({ code, path, ofKey }) => {
    const location = path.length === 0 ? state : state.localize?.([...(state.path ?? []), ...path], state);
    return error(code, { ofKey }, location);
  });
}

/**
 * The joi schema of these fields. It checks types and every rule of the domain, and never converts a value.
 * @param readOnly the names of fields that only the service sets
 */
function objectSchema(table: FieldTable, readOnly: readonly string[] = []): Joi.ObjectSchema {
  const sendable = Object.entries(table).map(([name, field]) => {
    const schema = fieldSchema(field);
    return [name, field.required ? schema.required() : schema];
  });
  const forbidden = readOnly.map((name) => [name, Joi.any().forbidden()]);
  return Joi.object(Object.fromEntries([...sendable, ...forbidden]));
}

function fieldSchema(field: Field): Joi.AnySchema {
  switch (field.kind) {
    case 'text':
      return text((value) => validateText(value, field));
    case 'code':
      return field.isValid ? text((value) => codeIssues(field, value)) : Joi.string().pattern(field.pattern);
    case 'choice':
      return text((value) => formIssues(value, field.values.includes(value)));
    case 'integer':
      return integer(field);
    case 'reference':
      return integer(REFERENCE);
    case 'instant':
      return text((value) => formIssues(value, parseInstant(value) !== undefined));
    case 'attributes':
      return rules().attributes();
    case 'object':
      return objectSchema(field.fields);
    case 'list':
      return rules()
        .list()
        .distinct(repetitionsIn(field))
        .items(fieldSchema(field.of))
        .min(field.min)
        .max(field.max);
  }
}

function text(textRules: TextRules): Joi.AnySchema {
  return rules().text().following(textRules);
}

function integer({ min, max }: { readonly min: number; readonly max: number }): Joi.NumberSchema {
  return Joi.number().integer().min(min).max(max);
}

/** More values than any record has. joi's stack overflows at about 100,000 errors. */
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
  let strict: Joi.ObjectSchema | undefined;
  const isValid = entityValidity(table);
  return (body) => {
    const { value, isWhole } = truncateJson(body, MAX_VALIDATED);
    // Most bodies are valid, and joi takes five times as long to say so.
    if (isWhole && isValid(value)) return NO_ISSUES;
    // joi keeps preferences of a schema, but merges those of a call each time.
    strict ??= objectSchema(table, readOnly).prefs({
      abortEarly: false,
      convert: false,
      presence: 'optional',
    });
    const { error } = strict.validate(value);
    if (!error) return isWhole ? NO_ISSUES : [TOO_LONG];
    const issues = error.details.map(({ type, path, context }) =>
      issueIn(table, { code: codeOf(type), path, value: context?.value, ofKey: context?.['ofKey'] }),
    );
    if (isWhole) return issues;
    // A field that is missing may have been cut off.
    const certain = issues.filter(({ code }) => code !== 'required');
    return certain.length > 0 ? certain : [TOO_LONG];
  };
}

const NO_ISSUES: readonly Issue[] = [];
const TOO_LONG = fieldIssue('too_long', [], `must have at most ${MAX_VALIDATED} values`);

function codeOf(type: string): IssueCode {
  // joi's own types contain a dot; the contract's codes do not.
  const code = type.includes('.') ? CODES[type] : (type as IssueCode);
  if (!code) throw new Error(`No error code is defined for joi's ${type}.`);
  return code;
}
