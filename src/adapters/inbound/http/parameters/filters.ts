import type { Comparison, Filter, Membership, Value } from '../../../../application/ports/list-query.js';
import { decidingWords, MAX_WORD_LENGTH, queryWords } from '../../../../application/search/tokenizer.js';
import type { IssueCode } from '../../../../domain/errors.js';
import { type FieldSpec, SYSTEM_FIELDS } from '../../../../domain/fields.js';
import { parseInstant } from '../../../../domain/instant.js';
import { readNumber } from '../../../../shared/json.js';
import type { ParameterIssue } from '../core/error-codes.js';
import { invalidParameters } from '../core/http-error.js';
import { integerSchema, type JsonSchema } from '../core/json-schema.js';
import type { Parameter, Parameters, Query } from '../core/parameter.js';
import { exampleRecord, type ListedResource } from '../core/resource-definition.js';
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
import { invalid, wholeNumberIssue } from './query.js';

type Operator = Comparison['operator'] | Membership['operator'] | 'all';

/** How the values of a field type are written in a query. */
interface ValueType {
  readonly operators: readonly Operator[];
  /** Completes the message "takes …". */
  readonly takes: string;
  /** What a number counts; completes "in". */
  readonly unit?: string;
  /** The schema of one value. */
  readonly schema: JsonSchema;
  /** The schema of a value among several. A comma separates them and cannot be escaped. Default: that of one value. */
  readonly element?: JsonSchema;
  issue(text: string): IssueCode | undefined;
  /** @param text a valid value */
  value(text: string): Value;
}

const ORDERED: readonly Operator[] = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in'];
const INTEGERS = { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER };

/** How a client writes `+` in a query, where it means a space. */
const PLUS = 'in a query + is written %2B';

const TEXT: ValueType = {
  operators: [...ORDERED, 'prefix'],
  takes: 'text',
  schema: { type: 'string' },
  element: { type: 'string', pattern: '^[^,]+$' },
  issue: () => undefined,
  value: (text) => text,
};

/** The number of an attribute. */
const NUMBER: ValueType = {
  operators: ['lt', 'lte', 'gt', 'gte'],
  takes: `a number within ±(2^53−1), such as 7.5 (${PLUS})`,
  schema: { type: 'number', minimum: INTEGERS.min, maximum: INTEGERS.max },
  issue: (text) => {
    const number = readNumber(text);
    if (number === undefined) return 'invalid_type';
    return Math.abs(number) <= INTEGERS.max ? undefined : 'out_of_range';
  },
  // Turns -0 into 0.
  value: (text) => Number(text) + 0,
};

const SPACELESS_TEXT: ValueType = {
  ...TEXT,
  takes: `text without a space (${PLUS})`,
  schema: { type: 'string', pattern: '^[^ ]*$' },
  element: { type: 'string', pattern: '^[^, ]+$' },
  issue: (text) => (text.includes(' ') ? 'invalid_format' : undefined),
};

const TEXTS: ValueType = { ...TEXT, operators: ['eq', 'in', 'all', 'prefix'] };

const VALUE_TYPES: Readonly<Record<FieldSpec['type'], ValueType | undefined>> = {
  text: TEXT,
  integer: {
    operators: ORDERED,
    takes: 'a whole number within ±(2^53−1), such as 1000',
    schema: integerSchema(INTEGERS.min, INTEGERS.max),
    issue: (text) => wholeNumberIssue(text, INTEGERS),
    // Turns -0 into 0.
    value: (text) => Number(text) + 0,
  },
  instant: {
    operators: ORDERED,
    takes: `a time such as 2030-01-31T00:00:00Z (RFC 3339; ${PLUS})`,
    schema: { type: 'string', format: 'date-time' },
    element: { type: 'string', format: 'date-time', pattern: '^[^,]+$' },
    issue: (text) => (parseInstant(text) === undefined ? 'invalid_format' : undefined),
    value: (text) => parseInstant(text) ?? Number.NaN,
  },
  attributes: undefined,
  presence: undefined,
};

/** The operators that name values of a choice. The others compare with any text. */
const NAMING: readonly Operator[] = ['eq', 'ne', 'in'];

/**
 * @param operator of the filter; absent: equals
 * @returns undefined for a field that is compared with no value
 */
function valueTypeOf(
  { type, isList, spaceless, unit, choices, noValue }: FieldSpec,
  operator: Operator = 'eq',
): ValueType | undefined {
  if (choices && NAMING.includes(operator)) return choiceOf([choices, noValue ?? []].flat());
  const found = isList ? TEXTS : spaceless ? SPACELESS_TEXT : VALUE_TYPES[type];
  return found && unit !== undefined ? { ...found, unit, takes: `${found.takes}, in ${unit}` } : found;
}

function choiceOf(names: readonly string[]): ValueType {
  const takes = `one of ${names.join(', ')}`;
  // An enumeration would be a type of its own in generated clients.
  const schema: JsonSchema = { type: 'string', pattern: `^(?:${names.join('|')})$` };
  return {
    ...TEXT,
    takes,
    schema,
    element: schema,
    issue: (text) => (names.includes(text) ? undefined : 'invalid_format'),
  };
}

/** The limit of filters in a query. Each one costs a store some work before the query begins. */
const MAX_FILTERS = 100;
/** The limit of values of `.in` and `.all`. */
const MAX_VALUES = 100;
/** The limit of words in a search. */
const MAX_WORDS = 10;

/** The name of the parameter that searches by words. */
const SEARCH = 'q';
const EXISTS = 'exists';
/** The operators that follow the field and a value. Without one, the operator is `eq`. */
const NAMED_OPERATORS = OPERATOR_WORDS.filter((word) => word !== EXISTS);
const COLON = new RegExp(`:(?=(?:${OPERATOR_WORDS.join('|')})$)`);

/** A filter parameter, without its value. */
interface FilterParameter extends Parameter {
  /** Returns the filters that all must match. @param text a valid value */
  filters(text: string): readonly Filter[];
}

/**
 * The filter parameters of a list: the search, and the fields of the resource with the operators of their types.
 * Examples: `q=lamp`, `name=Lamp`, `price.amount.gte=100`, `sku.exists=false`, `attributes.colour=red`.
 * `price.amount:gte` is another spelling of `price.amount.gte`, and `attributes[colour]` of `attributes.colour`.
 */
export class Filters {
  /** With their documentation. One describes the filters of all attributes. */
  readonly all: readonly Parameter[];
  private readonly fields: ReadonlyMap<string, FieldSpec>;
  private readonly byName: ReadonlyMap<string, FilterParameter>;
  private readonly hasAttributes: boolean;

  constructor(resource: ListedResource) {
    const example = exampleRecord(resource);
    this.fields = new Map(Object.entries({ ...SYSTEM_FIELDS, ...resource.fields }));
    this.hasAttributes = this.fields.get(ATTRIBUTES)?.type === 'attributes';
    const ofFields = [...this.fields].map(([field, spec]) => filtersOf(field, spec, valueAt(example, field)));
    const found = [...(resource.isSearchable ? [SEARCH_PARAMETER] : []), ...ofFields.flat()];
    this.byName = new Map(found.map((one) => [one.name, one]));
    this.all = [...found, ...(this.hasAttributes ? [ATTRIBUTES_PARAMETER] : [])];
  }

  /** @returns undefined if no filter has this name */
  find(name: string): FilterParameter | undefined {
    return this.byName.get(name) ?? this.attribute(name) ?? this.byName.get(name.replace(COLON, '.'));
  }

  /**
   * The table of these filters with further parameters.
   * @param before described before the filters; those without a description take no value
   * @param behind described behind them
   */
  with(before: readonly Parameter[], behind: readonly Parameter[] = []): Parameters {
    const own = new Map([...before, ...behind].map((one) => [one.name, one]));
    const documented = before.filter(({ docs }) => docs);
    const names = [...documented, ...behind].map(({ name }) => name).join(', ');
    return {
      all: [...documented, ...this.all, ...behind],
      find: (name) => own.get(name) ?? this.find(name),
      hint: (unknown) => this.hintFor(unknown) ?? `there are ${names}, ${this.names}`,
    };
  }

  /**
   * @param query a valid query
   * @throws HttpError `invalid_parameter` if there are too many filters
   */
  read(query: Query): Filter[] {
    const found = [...query].flatMap(([name, text]) => {
      const filter = this.find(name);
      return filter ? [{ name, filters: filter.filters(text) }] : [];
    });
    const excess = found[MAX_FILTERS];
    if (excess) {
      const issue = invalid(excess.name, 'too_long', `is one too many: ${MAX_FILTERS} filters are taken`);
      throw invalidParameters([['invalid_parameter', issue]]);
    }
    return found.flatMap(({ filters }) => filters);
  }

  /** The filters that there are, in words. */
  private get names(): string {
    const fields = [...this.fields].map(([field, { type }]) => {
      if (type === 'attributes') return `${field}[KEY]`;
      return type === 'presence' ? `${field}.${EXISTS}` : field;
    });
    const operators = [...NAMED_OPERATORS, EXISTS].map((operator) => `.${operator}`).join(' ');
    const search = this.byName.has(SEARCH) ? `${SEARCH}, ` : '';
    return `${search}and the filters ${fields.join(', ')}, some of which take ${operators}`;
  }

  /**
   * The right spelling of an unknown filter, also of one in the style of another service (`price.amount[gte]`,
   * `filter[price.amount][$gte]`, `price__amount__gte`), and the operators of its field.
   * @returns undefined if there is no such field
   */
  private hintFor(name: string): string | undefined {
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
    return this.find(plain) ? `write ${plain}; ${takes}` : takes;
  }

  /** A key may look like an operator or contain one. */
  private attribute(name: string): FilterParameter | undefined {
    const found = this.hasAttributes ? attributeName(name) : undefined;
    // Behind a key in brackets, `[]` marks a list: that of an operator, which is asked for without it.
    if (!found || (name.startsWith(`${ATTRIBUTES}[`) && name.endsWith('[]'))) return undefined;
    return filterOfAttribute(found);
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

/** The value of a field, the first one of a list, also of a field inside an object: `price.amount`. */
function valueAt(record: object, field: string): unknown {
  const value = field.split('.').reduce((at, name) => (at as Record<string, object>)[name] ?? {}, record);
  return Array.isArray(value) ? value[0] : value;
}

/** The filters of a field: `name`, `name.ne`, `name.prefix` and so on. */
function filtersOf(field: string, spec: FieldSpec, example: unknown): FilterParameter[] {
  if (spec.type === 'attributes') return [];
  const operators = valueTypeOf(spec)?.operators ?? [];
  const filters = operators.map((operator) => filterBy(operator, field, spec, example));
  if (spec.required) return filters;
  const docs = { description: 'Whether there is a value.', schema: { type: 'boolean' }, example: true };
  const exists = existence(`${field}.${EXISTS}`, (value) => ({ field, operator: 'exists', value }));
  return [...filters, { ...exists, docs }];
}

const MEANINGS: Readonly<Record<Operator, string>> = {
  eq: 'Equals this',
  ne: 'Has another value',
  lt: 'Less than this',
  lte: 'At most this',
  gt: 'Greater than this',
  gte: 'At least this',
  prefix: 'Begins with this',
  in: 'One of these',
  all: 'Has each of these',
};

const MEANINGS_OF_LISTS: Readonly<Record<Operator, string>> = {
  ...MEANINGS,
  eq: 'Has this',
  prefix: 'One begins with this',
  in: 'Has one of these',
};

function filterBy(operator: Operator, field: string, spec: FieldSpec, example: unknown): FilterParameter {
  const type = valueTypeOf(spec, operator) ?? TEXT;
  const { noValue } = spec;
  const description = descriptionOf(operator, spec, type);
  const name = `${field}.${operator}`;
  if (operator === 'in' || operator === 'all') {
    const items = type.element ?? type.schema;
    const schema = { type: 'array', minItems: 1, maxItems: MAX_VALUES, items };
    const docs = { description, schema, example: [example] };
    return { ...membership(name, field, operator, type, noValue), docs };
  }
  const isEqual = operator === 'eq';
  return {
    name: isEqual ? field : name,
    docs: { description, schema: type.schema, example },
    issues: (text, asked) => issuesFor(asked, type, [type.issue(text)]),
    filters: (text) => {
      if (text === noValue && isEqual) return [hasNoValue(field)];
      if (text === noValue && operator === 'ne') return [{ field, operator: 'exists', value: true }];
      return [{ field, operator, value: type.value(text) } satisfies Comparison];
    },
  };
}

/** In the words of the field's unit or choices, if it has any. */
function descriptionOf(operator: Operator, { isList, choices, noValue }: FieldSpec, type: ValueType): string {
  const meaning = (isList ? MEANINGS_OF_LISTS : MEANINGS)[operator];
  if (choices && ['eq', 'ne', 'in'].includes(operator)) {
    const found = operator === 'ne' ? 'with' : 'without';
    return `${meaning}: ${type.takes}.${noValue ? ` \`${noValue}\` finds records ${found} a value.` : ''}`;
  }
  return `${meaning}${type.unit === undefined ? '' : `, in ${type.unit}`}.`;
}

function hasNoValue(field: string): Filter {
  return { field, operator: 'exists', value: false, isChoice: true };
}

function existence(name: string, filterOf: (exists: boolean) => Filter): FilterParameter {
  const isBoolean = (text: string) => text === 'true' || text === 'false';
  return {
    name,
    issues: (text, asked) => (isBoolean(text) ? [] : [invalid(asked, 'invalid_format', 'takes true or false')]),
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
): FilterParameter {
  return listOf(name, type, (named) => {
    if (operator === 'all') return named.map((value) => ({ field, operator: 'eq', value, isOneOfAll: true }));
    const values = named.filter((value) => value !== noValue);
    if (values.length === named.length) return [{ field, operator, values }];
    return [values.length === 0 ? hasNoValue(field) : { field, operator: 'inOrNone', values }];
  });
}

function listOf(
  name: string,
  type: ValueType,
  filtersOf: (values: readonly Value[]) => readonly Filter[],
): FilterParameter {
  return {
    name,
    isList: true,
    issues: (text, asked) => {
      const elements = text.split(',');
      return issuesFor(asked, type, [
        elements.length > MAX_VALUES ? 'too_long' : undefined,
        ...elements.map((element) => (element === '' ? 'too_short' : type.issue(element))),
      ]);
    },
    filters: (text) => filtersOf([...new Set(text.split(',').map((one) => type.value(one)))]),
  };
}

function filterOfAttribute({ key, operator }: AttributeName): FilterParameter {
  const attribute = { field: ATTRIBUTES, operator: 'attribute', key } as const;
  if (operator === undefined)
    return {
      name: attributeSpelling(key),
      issues: () => [],
      filters: (value) => [{ ...attribute, value }],
    };
  const name = `${ATTRIBUTES}[${key}].${operator}`;
  if (operator === 'in') return listOf(name, TEXT, (values) => [{ ...attribute, values: values.map(String) }]);
  if (operator === EXISTS) return existence(name, (exists) => ({ ...attribute, exists }));
  return {
    name,
    issues: (text, asked) => issuesFor(asked, NUMBER, [NUMBER.issue(text)]),
    filters: (text) => [{ ...attribute, comparison: operator, number: Number(NUMBER.value(text)) }],
  };
}

/**
 * The parameter of attributes: an object, whose members are parameters of the query. Validators tell it apart from all
 * others by its style, which has no operators: they are in words, and for programs in `x-operators`.
 */
const ATTRIBUTES_PARAMETER: Parameter = {
  name: ATTRIBUTES,
  issues: () => [],
  docs: {
    description: `\`${ATTRIBUTES}[KEY]\`, or \`${ATTRIBUTES}.KEY\`: the attribute with this key has this value, compared as text. \`${ATTRIBUTES}[KEY].in\` takes values separated by commas, \`.exists\` true or false; \`.lt\`, \`.lte\`, \`.gt\` and \`.gte\` compare with a number: \`${ATTRIBUTES}[watts].gte=7.5\`.`,
    schema: { type: 'object', additionalProperties: {} },
    style: 'deepObject',
    explode: true,
    example: { colour: 'green' },
    'x-operators': {
      in: { type: 'string', pattern: `^[^,]+(?:,[^,]+){0,${MAX_VALUES - 1}}$` },
      exists: { type: 'boolean' },
      ...Object.fromEntries(NUMBER.operators.map((operator) => [operator, NUMBER.schema])),
    },
  },
};

/**
 * Has a character that may be part of a word: a letter or digit of ASCII, or any character beyond ASCII. Which of those
 * are letters depends on the version of Unicode, and regular expressions of many languages do not know.
 */
const HAS_WORD = '^[\\s\\S]*[^\\x00-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7f][\\s\\S]*$';

/** The parameter `q`, such as `q=desk lamp`: each word is the beginning of a word of the record. */
const SEARCH_PARAMETER: FilterParameter = {
  name: SEARCH,
  docs: {
    description: `Words of letters and digits, each the beginning of a word of the record: \`lam gre\` finds "Green Lamp". Upper and lower case and accents make no difference. At least one word and at most ${MAX_WORDS}, each of at most ${MAX_WORD_LENGTH} characters. Of a record the first 8,000 different words count.`,
    schema: { type: 'string', pattern: HAS_WORD },
    example: 'lamp',
  },
  issues: (text) => {
    const words = queryWords(text);
    const isLong = words.some((word) => word.length > MAX_WORD_LENGTH && [...word].length > MAX_WORD_LENGTH);
    const noWord = text === '' ? 'too_short' : 'invalid_format';
    return [
      ...(words.length === 0 ? [invalid(SEARCH, noWord, 'takes a word: letters or digits')] : []),
      ...(words.length > MAX_WORDS ? [invalid(SEARCH, 'too_long', `takes at most ${MAX_WORDS} words`)] : []),
      ...(isLong ? [invalid(SEARCH, 'too_long', `takes words of at most ${MAX_WORD_LENGTH} characters`)] : []),
    ];
  },
  filters: (text) => [{ field: 'q', operator: 'search', words: decidingWords(queryWords(text)) }],
};

/** The issues with these codes, each at most once. */
function issuesFor(name: string, type: ValueType, codes: readonly (IssueCode | undefined)[]): ParameterIssue[] {
  const found = new Set(codes.filter((code) => code !== undefined));
  return [...found].map((code) => invalid(name, code, messageFor(code, type)));
}

function messageFor(code: IssueCode, type: ValueType): string {
  if (code === 'too_long') return `takes at most ${MAX_VALUES} values`;
  return code === 'too_short' ? 'holds an empty value' : `takes ${type.takes}`;
}
