import type { Filter } from '../../../../application/records/list-query.js';
import type { IssueCode } from '../../../../domain/errors.js';
import { type FieldSpec, type FieldSpecs, SYSTEM_FIELDS } from '../../../../domain/fields.js';
import type { ParameterDescription } from '../openapi/description.js';
import { describedAttributes, describedFilters } from '../openapi/filters.js';
import { invalid, type Parameter, type Query } from '../query/query.js';
import { invalidParameters, type ParameterIssue } from '../response/http-error.js';
import { MAX_VALUES, type Operator, VALUE_TYPES, type ValueType } from './filter-operators.js';

/** More than any list has fields. Each filter costs a store some work before the query begins. */
const MAX_FILTERS = 100;
/** The operators that follow a colon. A name without one means `eq`. */
const NAMED_OPERATORS: readonly Operator[] = ['ne', 'lt', 'lte', 'gt', 'gte', 'prefix', 'in'];

/** The condition that the name of a parameter stands for. */
interface Condition {
  issues(text: string): ParameterIssue[];
  /** @param text a valid value */
  filter(text: string): Filter;
}

/**
 * `name=Lamp`, `price.amount:gte=100`, `attributes.colour=red`: the fields of a resource with the operators of their
 * types.
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

  /** All filters, for the OpenAPI document. */
  described(): ParameterDescription[] {
    return [...this.fields].flatMap(([field, { type }]) =>
      type === 'attributes' ? describedAttributes(field) : describedFilters(field, VALUE_TYPES[type]),
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
    const beyond = found[MAX_FILTERS];
    if (beyond) {
      const issue = invalid(beyond.name, 'too_long', `is one too many: ${MAX_FILTERS} filters are taken`);
      throw invalidParameters([['invalid_parameter', issue]]);
    }
    return found.map(({ filter }) => filter);
  }

  /** The operator follows the last colon, so an attribute key that contains a colon cannot be used. */
  private condition(name: string): Condition | undefined {
    const colon = name.lastIndexOf(':');
    if (colon < 0) return this.ofField(name, name, 'eq') ?? this.ofAttribute(name);
    const operator = NAMED_OPERATORS.find((known) => known === name.slice(colon + 1));
    return operator && this.ofField(name, name.slice(0, colon), operator);
  }

  private ofField(name: string, field: string, operator: Operator): Condition | undefined {
    const type = this.fields.get(field)?.type ?? 'attributes';
    if (type === 'attributes' || !VALUE_TYPES[type].operators.includes(operator)) return undefined;
    return operator === 'in'
      ? membership(name, field, VALUE_TYPES[type])
      : comparison(name, field, operator, VALUE_TYPES[type]);
  }

  /** The key is everything after the first dot. */
  private ofAttribute(name: string): Condition | undefined {
    const [field = '', ...rest] = name.split('.');
    const key = rest.join('.');
    if (key === '' || field !== 'attributes' || this.fields.get(field)?.type !== 'attributes')
      return undefined;
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
    issues: (text) => reported(name, type, [type.issue(text)]),
    filter: (text) => ({ field, operator, value: type.value(text) }),
  };
}

function membership(name: string, field: string, type: ValueType): Condition {
  return {
    issues: (text) => {
      const elements = text.split(',');
      return reported(name, type, [
        elements.length > MAX_VALUES ? 'too_long' : undefined,
        ...elements.map((element) => (element === '' ? 'too_short' : type.issue(element))),
      ]);
    },
    filter: (text) => ({ field, operator: 'in', values: text.split(',').map((one) => type.value(one)) }),
  };
}

/** Each kind of issue once: a list can contain more of them than anyone reads. */
function reported(
  name: string,
  type: ValueType,
  codes: readonly (IssueCode | undefined)[],
): ParameterIssue[] {
  const found = new Set(codes.filter((code) => code !== undefined));
  return [...found].map((code) => invalid(name, code, acceptedNames(code, type)));
}

function acceptedNames(code: IssueCode, type: ValueType): string {
  if (code === 'too_long') return `takes at most ${MAX_VALUES} values`;
  return code === 'too_short' ? 'holds an empty value' : `takes ${type.takes}`;
}
