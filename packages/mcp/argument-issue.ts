import type { Schema } from './api-document.js';

/** One problem with the arguments of a call, in the form of the details of an error of the service. */
export interface ArgumentIssue {
  readonly code: 'required' | 'invalid_type' | 'out_of_range' | 'invalid_format' | 'unknown_parameter';
  readonly message: string;
  readonly in: 'arguments';
  readonly name: string;
}

interface ObjectSchema {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
}

const HAS_TYPE: Readonly<Record<string, (value: unknown) => boolean>> = {
  integer: Number.isSafeInteger,
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

/**
 * Returns the arguments that are missing, unknown or of another type. The service validates what
 * is inside an object or array.
 */
export function argumentIssues(
  { properties, required }: ObjectSchema,
  args: Readonly<Record<string, unknown>>,
): ArgumentIssue[] {
  const missing = required.filter((name) => args[name] === undefined);
  return [
    ...missing.map((name) => argumentIssue('required', name, `is required: it must be ${ruleOf(properties[name])}`)),
    ...Object.entries(args).flatMap(([name, value]) => {
      const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (!schema) {
        const known = `is not an argument of this tool: there are ${Object.keys(properties).join(', ')}`;
        return [argumentIssue('unknown_parameter', name, known)];
      }
      const { type, minimum } = schema;
      if (HAS_TYPE[String(type)]?.(value) === false)
        return [argumentIssue('invalid_type', name, `must be ${ruleOf(schema)}`)];
      if (typeof minimum === 'number' && (value as number) < minimum)
        return [argumentIssue('out_of_range', name, `must be ${ruleOf(schema)}`)];
      return [];
    }),
  ];
}

/** What an argument may be; completes "must be". */
function ruleOf({ type, minimum }: Schema = {}): string {
  return `of type ${type}${minimum === undefined ? '' : `, at least ${minimum}`}`;
}

export function argumentIssue(code: ArgumentIssue['code'], name: string, problem: string): ArgumentIssue {
  return { code, message: `${name} ${problem}.`, in: 'arguments', name };
}
