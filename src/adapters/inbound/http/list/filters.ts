import type { Filter } from '../../../../application/records/list-query.js';
import type { IssueCode } from '../../../../domain/errors.js';
import { type FieldSpec, type FieldSpecs, SYSTEM_FIELDS } from '../../../../domain/fields.js';
import type { ParameterDescription } from '../openapi/description.js';
import { attributeDescriptions, filterDescriptions } from '../openapi/filters.js';
import { invalid, type Parameter, type Query } from '../query/query.js';
import { invalidParameters, type ParameterIssue } from '../response/http-error.js';
import { MAX_VALUES, type Operator, VALUE_TYPES, type ValueType } from './filter-operators.js';

/** The limit of filters in a query. Each one costs a store some work before the query begins. */
const MAX_FILTERS = 100;
/** The operators that follow the field. Without one, the operator is `eq`. */
const NAMED_OPERATORS: readonly Operator[] = ['ne', 'lt', 'lte', 'gt', 'gte', 'prefix', 'in'];

/** A filter parameter, without its value. */
interface Condition extends Parameter {
  /** @param text a valid value */
  filter(text: string): Filter;
}

/**
 * The filter parameters of a list: the fields of the resource with the operators of their types. Examples: `name=Lamp`,
 * `price.amount.gte=100`, `attributes.colour=red`. `price.amount:gte` is another spelling of `price.amount.gte`.
 */
export class Filters {
  private readonly fields: ReadonlyMap<string, FieldSpec>;

  constructor(fields: FieldSpecs) {
    this.fields = new Map(Object.entries({ ...SYSTEM_FIELDS, ...fields }));
  }

  /** @returns undefined if no filter has this name */
  parameter(name: string): Parameter | undefined {
    return this.condition(name);
  }

  /**
   * The documentation of all filters.
   * @param example a record with a value in every field
   */
  descriptions(example: object): ParameterDescription[] {
    return [...this.fields].flatMap(([field, { type }]) =>
      type === 'attributes'
        ? attributeDescriptions(field)
        : filterDescriptions(field, VALUE_TYPES[type], example),
    );
  }

  /**
   * @param query a valid query
   * @throws HttpError `invalid_parameter` if there are too many filters
   */
  read(query: Query): Filter[] {
    const found = [...query].flatMap(([name, text]) => {
      const condition = this.condition(name);
      return condition ? [{ name, filter: condition.filter(text) }] : [];
    });
    const excess = found[MAX_FILTERS];
    if (excess) {
      const issue = invalid(excess.name, 'too_long', `is one too many: ${MAX_FILTERS} filters are taken`);
      throw invalidParameters([['invalid_parameter', issue]]);
    }
    return found.map(({ filter }) => filter);
  }

  private condition(name: string): Condition | undefined {
    return (
      this.attributeCondition(name) ?? this.fieldCondition(name, name, 'eq') ?? this.operatorCondition(name)
    );
  }

  /** The operator follows the last dot or colon. */
  private operatorCondition(name: string): Condition | undefined {
    const separator = Math.max(name.lastIndexOf('.'), name.lastIndexOf(':'));
    if (separator < 0) return undefined;
    const operator = NAMED_OPERATORS.find((known) => known === name.slice(separator + 1));
    return operator && this.fieldCondition(name, name.slice(0, separator), operator);
  }

  private fieldCondition(name: string, field: string, operator: Operator): Condition | undefined {
    const type = this.fields.get(field)?.type ?? 'attributes';
    if (type === 'attributes' || !VALUE_TYPES[type].operators.includes(operator)) return undefined;
    return operator === 'in'
      ? membership(name, field, VALUE_TYPES[type])
      : comparison(name, field, operator, VALUE_TYPES[type]);
  }

  /** The key is everything after the first dot, so it may look like an operator or contain one. */
  private attributeCondition(name: string): Condition | undefined {
    const field = 'attributes';
    const key = name.slice(field.length + 1);
    const isAttribute = name.startsWith(`${field}.`) && this.fields.get(field)?.type === 'attributes';
    if (!isAttribute || key === '') return undefined;
    return { issues: () => [], filter: (value) => ({ field, operator: 'attribute', key, value }) };
  }
}

function comparison(
  name: string,
  field: string,
  operator: Exclude<Operator, 'in'>,
  type: ValueType,
): Condition {
  return {
    ...(operator !== 'eq' && { name: `${field}.${operator}` }),
    issues: (text) => issuesFor(name, type, [type.issue(text)]),
    filter: (text) => ({ field, operator, value: type.value(text) }),
  };
}

function membership(name: string, field: string, type: ValueType): Condition {
  return {
    name: `${field}.in`,
    isList: true,
    issues: (text) => {
      const elements = text.split(',');
      return issuesFor(name, type, [
        elements.length > MAX_VALUES ? 'too_long' : undefined,
        ...elements.map((element) => (element === '' ? 'too_short' : type.issue(element))),
      ]);
    },
    filter: (text) => ({ field, operator: 'in', values: text.split(',').map((one) => type.value(one)) }),
  };
}

/** The issues with these codes, each at most once. */
function issuesFor(
  name: string,
  type: ValueType,
  codes: readonly (IssueCode | undefined)[],
): ParameterIssue[] {
  const found = new Set(codes.filter((code) => code !== undefined));
  return [...found].map((code) => invalid(name, code, messageFor(code, type)));
}

function messageFor(code: IssueCode, type: ValueType): string {
  if (code === 'too_long') return `takes at most ${MAX_VALUES} values`;
  return code === 'too_short' ? 'holds an empty value' : `takes ${type.takes}`;
}
