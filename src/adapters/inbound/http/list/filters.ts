import type { Comparison, Filter, Value } from '../../../../application/ports/list-query.js';
import type { IssueCode } from '../../../../domain/errors.js';
import { type FieldSpec, SYSTEM_FIELDS } from '../../../../domain/fields.js';
import type { ParameterDescription } from '../core/description.js';
import type { ParameterIssue } from '../core/error-codes.js';
import { invalidParameters } from '../core/http-error.js';
import type { Parameter, Query } from '../core/parameter.js';
import type { ListedResource } from '../core/resource-definition.js';
import { invalid } from '../query/query.js';
import {
  ATTRIBUTE_OPERATORS,
  ATTRIBUTES,
  type AttributeName,
  attributeName,
  attributeSpelling,
  OPERATOR_WORDS,
  type OtherStyle,
  otherStyle,
} from './attribute-name.js';
import {
  attributeDescription,
  existenceDescription,
  filterDescriptions,
  searchDescription,
} from './filter-descriptions.js';
import {
  type Condition,
  MAX_VALUES,
  NUMBER,
  type Operator,
  TEXT,
  type ValueType,
  valueTypeOf,
} from './filter-operators.js';
import { SEARCH, searchParameter } from './search.js';

/** The limit of filters in a query. Each one costs a store some work before the query begins. */
const MAX_FILTERS = 100;
const EXISTS = 'exists';
/** The operators that follow the field and a value. Without one, the operator is `eq`. */
const NAMED_OPERATORS = OPERATOR_WORDS.filter((word) => word !== EXISTS);

/**
 * The filter parameters of a list: the search, and the fields of the resource with the operators of their types.
 * Examples: `q=lamp`, `name=Lamp`, `price.amount.gte=100`, `sku.exists=false`, `attributes.colour=red`.
 * `price.amount:gte` is another spelling of `price.amount.gte`, and `attributes[colour]` of `attributes.colour`.
 */
export class Filters {
  private readonly fields: ReadonlyMap<string, FieldSpec>;

  private readonly search: Condition | undefined;

  constructor({ fields, isSearchable }: ListedResource) {
    this.search = isSearchable ? searchParameter() : undefined;
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
    const filters = [...this.fields].flatMap(([field, spec]) => {
      if (spec.type === 'attributes') return [attributeDescription(field)];
      const existence = spec.required ? [] : [existenceDescription(field, EXISTS)];
      return [...filterDescriptions(field, spec, example), ...existence];
    });
    return this.search ? [searchDescription(SEARCH), ...filters] : filters;
  }

  /**
   * @param query a valid query
   * @throws HttpError `invalid_parameter` if there are too many filters
   */
  read(query: Query): Filter[] {
    const found = [...query].flatMap(([name, text]) => {
      const condition = this.condition(name);
      return condition ? [{ name, filters: condition.filters(text) }] : [];
    });
    const excess = found[MAX_FILTERS];
    if (excess) {
      const issue = invalid(excess.name, 'too_long', `is one too many: ${MAX_FILTERS} filters are taken`);
      throw invalidParameters([['invalid_parameter', issue]]);
    }
    return found.flatMap(({ filters }) => filters);
  }

  /** The filters that there are, in words. */
  get names(): string {
    const fields = [...this.fields].map(([field, { type }]) => {
      if (type === 'attributes') return `${field}[KEY]`;
      return type === 'presence' ? `${field}.${EXISTS}` : field;
    });
    const operators = [...NAMED_OPERATORS, EXISTS].map((operator) => `.${operator}`).join(' ');
    return `${this.search ? `${SEARCH}, ` : ''}and the filters ${fields.join(', ')}, some of which take ${operators}`;
  }

  /**
   * The right spelling of an unknown filter, also of one in the style of another service (`price.amount[gte]`,
   * `filter[price.amount][$gte]`, `price__amount__gte`), and the operators of its field.
   * @returns undefined if there is no such field
   */
  hintFor(name: string): string | undefined {
    const steps = name.split(/[.:[\]$]+|__/).filter((step) => step !== '');
    const plain = (/^filters?$/.test(steps[0] ?? '') ? steps.slice(1) : steps).join('.');
    if (this.hasAttributes && (name.startsWith(`${ATTRIBUTES}[`) || plain.startsWith(`${ATTRIBUTES}.`)))
      return attributeHint(otherStyle(name) ?? otherStyle(plain));
    const field = [...this.fields.keys()].find((one) => plain === one || plain.startsWith(`${one}.`));
    const spec = this.fields.get(field ?? '');
    if (!spec || spec.type === 'attributes') return undefined;
    const type = valueTypeOf(spec);
    const named = NAMED_OPERATORS.filter((operator) => type?.operators.includes(operator));
    const operators = [...named, ...(spec.required ? [] : [EXISTS])];
    const takes = `${field} takes ${operators.map((operator) => `.${operator}`).join(' ')}`;
    return this.parameter(plain) ? `write ${plain}; ${takes}` : takes;
  }

  private get hasAttributes(): boolean {
    return this.fields.get(ATTRIBUTES)?.type === 'attributes';
  }

  private condition(name: string): Condition | undefined {
    if (name === SEARCH) return this.search;
    return (
      this.attributeCondition(name) ?? this.fieldCondition(name, name, 'eq') ?? this.operatorCondition(name)
    );
  }

  /** The operator follows the last dot or colon. */
  private operatorCondition(name: string): Condition | undefined {
    const separator = Math.max(name.lastIndexOf('.'), name.lastIndexOf(':'));
    if (separator < 0) return undefined;
    const field = name.slice(0, separator);
    const suffix = name.slice(separator + 1);
    if (suffix === EXISTS) return this.existenceCondition(name, field);
    const operator = NAMED_OPERATORS.find((known) => known === suffix);
    return operator && this.fieldCondition(name, field, operator);
  }

  private fieldCondition(name: string, field: string, operator: Operator): Condition | undefined {
    const spec = this.fields.get(field);
    const type = spec && valueTypeOf(spec, operator);
    if (!type?.operators.includes(operator)) return undefined;
    return operator === 'in' || operator === 'all'
      ? membership(name, field, operator, type, spec?.noValue)
      : comparison(name, field, operator, type, spec?.noValue);
  }

  /** For fields that a record may lack. */
  private existenceCondition(name: string, field: string): Condition | undefined {
    const { type = 'attributes', required } = this.fields.get(field) ?? {};
    if (type === 'attributes' || required) return undefined;
    return {
      ...existence(name, (value) => ({ field, operator: 'exists', value })),
      name: `${field}.${EXISTS}`,
    };
  }

  /** A key may look like an operator or contain one. */
  private attributeCondition(name: string): Condition | undefined {
    const found = this.hasAttributes ? attributeName(name) : undefined;
    // Behind a key in brackets, `[]` marks a list: that of an operator, which is asked for without it.
    if (!found || (name.startsWith(`${ATTRIBUTES}[`) && name.endsWith('[]'))) return undefined;
    return conditionOfAttribute(name, found);
  }
}

/** @param style absent: the operator alone is unknown */
function attributeHint(style: OtherStyle | undefined): string {
  const takes = `${ATTRIBUTES}[KEY] takes ${ATTRIBUTE_OPERATORS.map((operator) => `.${operator}`).join(' ')}`;
  if (!style) return takes;
  const { key, operator, literal } = style;
  const name = `${ATTRIBUTES}[${key || 'KEY'}]`;
  const isTaken = ATTRIBUTE_OPERATORS.some((known) => known === operator);
  const right =
    operator === undefined ? `write ${name}, or ${name}.in for several values` : `write ${name}.${operator}`;
  const quoted = JSON.stringify(literal);
  return `${operator === undefined || isTaken ? right : takes}; the attribute with the key ${quoted} is ${attributeSpelling(literal)}`;
}

/** @param name in the spelling of the request */
function conditionOfAttribute(name: string, { key, operator }: AttributeName): Condition {
  const attribute = { field: ATTRIBUTES, operator: 'attribute', key } as const;
  if (operator === undefined)
    return {
      name: attributeSpelling(key),
      issues: () => [],
      filters: (value) => [{ ...attribute, value }],
    };
  const canonical = `${ATTRIBUTES}[${key}].${operator}`;
  switch (operator) {
    case 'in':
      return {
        ...listOf(name, TEXT, (values) => [{ ...attribute, values: values.map(String) }]),
        name: canonical,
      };
    case 'exists':
      return {
        ...existence(name, (exists) => ({ ...attribute, exists })),
        name: canonical,
      };
    default:
      return {
        name: canonical,
        issues: (text) => issuesFor(name, NUMBER, [NUMBER.issue(text)]),
        filters: (text) => [{ ...attribute, comparison: operator, number: Number(NUMBER.value(text)) }],
      };
  }
}

function comparison(
  name: string,
  field: string,
  operator: Comparison['operator'],
  type: ValueType,
  noValue: string | undefined,
): Condition {
  return {
    ...(operator !== 'eq' && { name: `${field}.${operator}` }),
    issues: (text) => issuesFor(name, type, [type.issue(text)]),
    filters: (text) => {
      if (text === noValue && operator === 'eq') return [hasNoValue(field)];
      if (text === noValue && operator === 'ne') return [{ field, operator: 'exists', value: true }];
      return [{ field, operator, value: type.value(text) }];
    },
  };
}

function hasNoValue(field: string): Filter {
  return { field, operator: 'exists', value: false, isChoice: true };
}

function existence(name: string, filterOf: (exists: boolean) => Filter): Condition {
  const isBoolean = (text: string) => text === 'true' || text === 'false';
  return {
    issues: (text) => (isBoolean(text) ? [] : [invalid(name, 'invalid_format', 'takes true or false')]),
    filters: (text) => [filterOf(text === 'true')],
  };
}

/** Of several values: any of them, or each of them, which are as many filters. */
function membership(
  name: string,
  field: string,
  operator: 'in' | 'all',
  type: ValueType,
  noValue: string | undefined,
): Condition {
  const filtersOf = (named: readonly Value[]): readonly Filter[] => {
    if (operator === 'all') return named.map((value) => ({ field, operator: 'eq', value, isOneOfAll: true }));
    const values = named.filter((value) => value !== noValue);
    if (values.length === named.length) return [{ field, operator, values }];
    return [values.length === 0 ? hasNoValue(field) : { field, operator: 'inOrNone', values }];
  };
  return { ...listOf(name, type, filtersOf), name: `${field}.${operator}` };
}

function listOf(
  name: string,
  type: ValueType,
  filtersOf: (values: readonly Value[]) => readonly Filter[],
): Condition {
  return {
    isList: true,
    issues: (text) => {
      const elements = text.split(',');
      return issuesFor(name, type, [
        elements.length > MAX_VALUES ? 'too_long' : undefined,
        ...elements.map((element) => (element === '' ? 'too_short' : type.issue(element))),
      ]);
    },
    filters: (text) => filtersOf([...new Set(text.split(',').map((one) => type.value(one)))]),
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
