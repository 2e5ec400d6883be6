import Joi from 'joi';
import { attributeFaults } from '../../../domain/attributes.js';
import { type Fault, type FaultCode, jsonPointer } from '../../../domain/errors.js';
import { type TextRule, textFaults } from '../../../domain/text.js';

const MESSAGES = {
  required: 'is required',
  invalid_type: 'is of the wrong type',
  out_of_range: 'is out of range',
  too_long: 'is too long',
  too_short: 'is too short',
  invalid_format: 'holds what may not stand here',
  unknown_field: 'is not a field',
  read_only_field: 'is given by the service and cannot be set',
} satisfies Partial<Record<FaultCode, string>>;

type SchemaFault = keyof typeof MESSAGES;

/** What joi calls a fault, in the words of the contract. */
const CODES: Readonly<Record<string, SchemaFault>> = {
  'any.required': 'required',
  'any.unknown': 'read_only_field',
  'object.unknown': 'unknown_field',
  'object.base': 'invalid_type',
  'array.base': 'invalid_type',
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

type Types = Joi.Root & {
  /** A string that a {@link TextRule} of the domain judges. */
  text(): Joi.StringSchema & { keeping(rule: TextRule): Joi.StringSchema };
  attributes(): Joi.ObjectSchema;
};

/** What a rule of joi returns several errors in; its types leave it out. */
type ManyErrors = Joi.CustomHelpers & { errorsArray(): Joi.ErrorReport[] };

/** The domain's own rules as joi types; their errors bear the contract's codes as they are. */
const types = Joi.extend(
  (joi) => ({
    type: 'text',
    base: joi.string(),
    rules: {
      keeping: {
        args: ['rule'],
        method(rule: TextRule) {
          return this.$_addRule({ name: 'keeping', args: { rule } });
        },
        validate(value: string, helpers, { rule }: { rule: TextRule }) {
          const codes = textFaults(value, rule);
          if (codes.length === 0) return value;
          const errors = (helpers as ManyErrors).errorsArray();
          errors.push(...codes.map((code) => helpers.error(code)));
          return errors;
        },
      },
    },
  }),
  (joi) => ({
    type: 'attributes',
    base: joi.object().unknown(),
    validate(value: Readonly<Record<string, unknown>>, { schema, state, prefs }) {
      const errors = attributeFaults(value).map(({ code, path }) => {
        const place =
          path.length === 0 ? state : (state.localize?.([...(state.path ?? []), ...path], state) ?? state);
        return schema.$_createError(code, value, {}, place, prefs);
      });
      return errors.length === 0 ? undefined : { value, errors };
    },
  }),
) as Types;

export function attributes(): Joi.ObjectSchema {
  return types.attributes();
}

export function text(rule: TextRule): Joi.StringSchema {
  const schema = types.text().keeping(rule);
  return rule.min === 0 ? schema.allow('') : schema;
}

export function integer(bounds: { readonly min: number; readonly max: number }): Joi.NumberSchema {
  return Joi.number().integer().min(bounds.min).max(bounds.max);
}

/** So many faults are told at the most: a body can hold more of them than anyone reads. */
const MAX_FAULTS = 1_000;
const MAX_SUBJECT = 100;

/** All that is wrong with a body, at once. */
export function schemaFaults(schema: Joi.Schema, body: unknown): Fault[] {
  const { error } = schema.validate(body, { abortEarly: false, convert: false, presence: 'optional' });
  return (error?.details ?? []).slice(0, MAX_FAULTS).map(({ type, path }) => bodyFault(codeOf(type), path));
}

export function bodyFault(code: SchemaFault, path: readonly (string | number)[]): Fault {
  const subject = path.length === 0 ? 'The body' : path.join('.').slice(0, MAX_SUBJECT);
  return { code, message: `${subject} ${MESSAGES[code]}.`, in: 'body', pointer: jsonPointer(path) };
}

function codeOf(type: string): SchemaFault {
  const code = type in MESSAGES ? (type as SchemaFault) : CODES[type];
  if (!code) throw new Error(`No code of the contract stands for joi's ${type}.`);
  return code;
}
