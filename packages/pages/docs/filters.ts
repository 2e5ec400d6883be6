import { typeOf } from './examples.js';
import type { Parameter } from './openapi.js';
import type { References } from './references.js';

/** A field by which a list can be filtered. */
export interface FilterField {
  readonly name: string;
  /** The operators, in the order of the document. `equals` has no suffix. */
  readonly operators: readonly FilterOperator[];
  /** What a name starts with if the person chooses its rest, as in `attributes.KEY`. */
  readonly prefix?: string;
}

export interface FilterOperator {
  readonly name: string;
  /** If the person chooses the name, the schema and the example are those of one value. */
  readonly parameter: Parameter;
  /** Returns the name in a request. @param key what the person chooses */
  nameOf(key: string): string;
}

/** An operator after the name of its field: `price.amount.gte` or `price.amount:gte`. */
const OPERATOR = /[.:](\w+)$/;

/**
 * Finds the filters among the parameters of a query. A parameter is a filter if the document also has it with an
 * operator, if it ends in an operator of another filter (`url.exists`), or if the person may choose its name.
 */
export function filtersAmong(
  query: readonly Parameter[],
  references: References,
): { filters: FilterField[]; others: Parameter[] } {
  const names = new Set(query.map(({ name }) => name));
  const suffixes = new Set(
    query.map(({ name }) => (names.has(name.replace(OPERATOR, '')) ? OPERATOR.exec(name)?.[1] : undefined)),
  );
  const fieldOf = ({ name }: Parameter) => {
    const [suffix = '', operator] = OPERATOR.exec(name) ?? [];
    return operator !== undefined && suffixes.has(operator) ? name.slice(0, -suffix.length) : name;
  };
  const withOperator = new Set(query.filter((one) => fieldOf(one) !== one.name).map(fieldOf));
  const isOpen = ({ schema }: Parameter) => typeOf(references.schema(schema)) === 'object';
  const isFilter = (one: Parameter) => !one.required && (isOpen(one) || withOperator.has(fieldOf(one)));
  const byField = new Map<string, Parameter[]>();
  for (const one of query.filter(isFilter)) byField.set(fieldOf(one), [...(byField.get(fieldOf(one)) ?? []), one]);
  const filters = [...byField].map(([name, parameters]) => ({
    name,
    operators: parameters.flatMap((parameter) =>
      isOpen(parameter)
        ? operatorsOfKeys(parameter, references)
        : [{ name: operatorOf(parameter, name), parameter, nameOf: () => parameter.name }],
    ),
    ...(parameters.some(isOpen) && { prefix: prefixOf(parameters[0] as Parameter) }),
  }));
  return { filters, others: query.filter((one) => !isFilter(one)) };
}

function operatorOf({ name }: Parameter, field: string): string {
  return OPERATOR.exec(name.slice(field.length))?.[1] ?? 'equals';
}

/** The operators of a parameter whose members have names that the person chooses, for one of them. */
function operatorsOfKeys(parameter: Parameter, references: References): FilterOperator[] {
  const { name, schema, example, 'x-operators': operators = {} } = parameter;
  const [value] = Object.values(example ?? {});
  const { additionalProperties = {} } = references.schema(schema);
  const equals = {
    name: 'equals',
    parameter: { ...parameter, schema: additionalProperties, example: value },
    nameOf: (key: string) => (prefixOf(parameter) === '' ? key : nameOfKey(name, key)),
  };
  const others = Object.entries(operators).map(([operator, operand]) => ({
    name: operator,
    parameter: { ...parameter, schema: operand, example: undefined },
    nameOf: (key: string) => `${name}[${key}].${operator}`,
  }));
  return [equals, ...others];
}

/**
 * The name of the filter that a key equals a value. The service refuses `.gte` and `[in]` at the end of a key behind a
 * dot, as other services write operators, and `attributes[attributes.colour]`.
 */
export function nameOfKey(field: string, key: string): string {
  const needsBrackets = /\.\w+$|\]$/.test(key) && !key.startsWith(`${field}.`);
  return needsBrackets ? `${field}[${key}]` : `${field}.${key}`;
}

/** What the name of a member starts with: that of the parameter, or nothing if each member is a parameter (`form`). */
function prefixOf({ name, style }: Parameter): string {
  return style === 'deepObject' ? `${name}.` : '';
}
