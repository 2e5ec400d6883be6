import Joi from 'joi';
import { attributeFaults } from '../../../../domain/attributes.js';
import { type Fault, type FaultCode, jsonPointer } from '../../../../domain/errors.js';
import { parseInstant } from '../../../../domain/instant.js';
import { type TextRule, textFaults } from '../../../../domain/text.js';
import { type JsonSchema, textSchema } from '../openapi/json-schema.js';
import { firstValues } from './first-values.js';

const MESSAGES = {
  required: 'is required',
  invalid_type: 'is of the wrong type',
  out_of_range: 'is out of range',
  too_long: 'is too long',
  too_short: 'is too short',
  invalid_format: 'holds what may not stand here',
  unknown_field: 'is not a field',
  duplicate_value: 'is there already',
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

/** A fault of a value or of something in it. */
interface PlacedFault {
  readonly code: FaultCode;
  readonly path: readonly (string | number)[];
}

/** Where the elements stand that repeat one before them; they may be of any type. */
type Repetitions = (elements: readonly unknown[]) => (readonly (string | number)[])[];

/** Judges texts. */
export interface Judge {
  readonly faults: (text: string) => readonly FaultCode[];
  /** What a JSON Schema says of the texts that have no fault, beside that they are strings. */
  readonly jsonSchema: JsonSchema;
}

type Types = Joi.Root & {
  text(): Joi.AnySchema & { judgedBy(judge: Judge): Joi.AnySchema };
  attributes(): Joi.ObjectSchema;
  list(): Joi.ArraySchema & { distinct(repetitions: Repetitions): Joi.ArraySchema };
};

/** What a rule of joi returns several errors in; its types leave it out. */
type ManyErrors = Joi.CustomHelpers & { errorsArray(): Joi.ErrorReport[] };

/** The domain's own rules as joi types; their errors bear the contract's codes as they are. */
const types = Joi.extend(
  (joi) => ({
    type: 'text',
    base: joi.any(),
    validate(value: unknown, helpers) {
      return typeof value === 'string' ? undefined : { value, errors: helpers.error('invalid_type') };
    },
    rules: {
      judgedBy: {
        args: ['judge'],
        method(judge: Judge) {
          return this.$_addRule({ name: 'judgedBy', args: { judge } });
        },
        validate(value: string, helpers, { judge }: { judge: Judge }) {
          return judged(
            value,
            judge.faults(value).map((code) => ({ code, path: [] })),
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
      const errors = reports(attributeFaults(value), helpers);
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
          const faults = repetitions(value).map((path) => ({ code: 'duplicate_value' as const, path }));
          return judged(value, faults, helpers);
        },
      },
    },
  }),
) as Types;

function judged<Value>(value: Value, faults: readonly PlacedFault[], helpers: Joi.CustomHelpers) {
  if (faults.length === 0) return value;
  const errors = (helpers as ManyErrors).errorsArray();
  errors.push(...reports(faults, helpers));
  return errors;
}

function reports(faults: readonly PlacedFault[], { error, state }: Joi.CustomHelpers): Joi.ErrorReport[] {
  return faults.map(({ code, path }) => {
    const place = path.length === 0 ? state : state.localize?.([...(state.path ?? []), ...path], state);
    return error(code, {}, place);
  });
}

export function attributes(): Joi.ObjectSchema {
  return types.attributes();
}

export function text(rule: TextRule): Joi.AnySchema {
  return judgedText((text) => textFaults(text, rule), textSchema(rule));
}

interface Bounds {
  readonly min: number;
  readonly max: number;
}

export function integer(bounds: Bounds): Joi.NumberSchema {
  return Joi.number().integer().min(bounds.min).max(bounds.max);
}

export function oneOf(texts: readonly string[]): Joi.AnySchema {
  return judgedText((text) => formatFaults(text, texts.includes(text)), { enum: texts });
}

/** RFC 3339. */
export function instant(): Joi.AnySchema {
  return judgedText((text) => formatFaults(text, parseInstant(text) !== undefined), { format: 'date-time' });
}

/** A field that is shown and cannot be sent. */
export function givenByService(): Joi.Schema {
  return Joi.any().forbidden();
}

function judgedText(faults: Judge['faults'], jsonSchema: JsonSchema): Joi.AnySchema {
  return types.text().judgedBy({ faults, jsonSchema });
}

function formatFaults(text: string, isGood: boolean): FaultCode[] {
  if (text === '') return ['too_short'];
  return isGood ? [] : ['invalid_format'];
}

/** An array of 1 element at least. */
export function list(element: Joi.Schema, bounds: Bounds, repetitions: Repetitions): Joi.ArraySchema {
  return types.list().distinct(repetitions).items(element).min(bounds.min).max(bounds.max);
}

/** Far more values than any resource has, and far fewer than the faults that overflow joi's stack. */
const MAX_JUDGED = 2_000;
const MAX_SUBJECT = 100;

/** All that is wrong with a body, at once. */
export function schemaFaults(schema: Joi.Schema, body: unknown): Fault[] {
  const { value, isWhole } = firstValues(body, MAX_JUDGED);
  const { error } = schema.validate(value, { abortEarly: false, convert: false, presence: 'optional' });
  const faults = (error?.details ?? []).map(({ type, path }) => bodyFault(codeOf(type), path));
  if (isWhole) return faults;
  // What seems to be missing may have been left out.
  const certain = faults.filter(({ code }) => code !== 'required');
  return certain.length > 0 ? certain : [bodyFault('too_long', [])];
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
