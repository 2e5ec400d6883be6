import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { FilterField } from '../../docs/filters.js';
import type { Schema } from '../../docs/openapi.js';
import type { References } from '../../docs/references.js';
import { useConsole } from '../context.js';
import { instantOf, labelOf, localOf } from '../formats.js';
import {
  currencyOf,
  type Filter,
  type NumberKind,
  numberSeparator,
  parameterOf,
  sentFilter,
  typedFilter,
} from '../list-query.js';
import { TEXTS } from '../texts.js';
import { Button } from './button.js';
import { type ControlProps, Field, Input, Select, useNextFocus } from './field.js';

const { filters: texts } = TEXTS;

interface FilterPanelProps {
  readonly fields: readonly FilterField[];
  readonly applied: readonly Filter[];
  /** What the service says about a parameter, by its name. */
  readonly errors: ReadonlyMap<string, string>;
  onApply(filters: readonly Filter[]): void;
}

/** Filters as rows of field, operator and value. What is typed stays until it is applied. */
export function FilterPanel({ fields, applied, errors, onApply }: FilterPanelProps): JSX.Element {
  const { references } = useConsole();
  const kindOf = (filter: Filter) => numberKindOf(filter, schemaOf(fields, filter, references));
  const empty: Filter = { field: fields[0]?.name ?? '', key: '', operator: 'equals', value: '' };
  const [filters, setFilters] = useState<readonly Filter[]>(() =>
    applied.length > 0 ? applied.map((filter) => typedFilter(filter, applied, kindOf(filter))) : [empty],
  );
  /** Why the values of filters could not be sent. */
  const [invalid, setInvalid] = useState<ReadonlyMap<Filter, string>>(new Map());
  const form = useRef<HTMLFormElement>(null);
  const focusNext = useNextFocus(form);
  const submit = (event: Event) => {
    event.preventDefault();
    const sent: Filter[] = [];
    const refused = new Map<Filter, string>();
    for (const filter of filters.filter(({ value }) => value !== '')) {
      const found = sentFilter(filter, filters, kindOf(filter));
      if ('code' in found) refused.set(filter, TEXTS.form.problem(found));
      else if (filter.key === '' && isKeyed(fields, filter.field)) refused.set(filter, '');
      else sent.push(found);
    }
    if (refused.size === 0) return onApply(sent);
    setInvalid(refused);
    focusNext('[aria-invalid]');
  };
  return (
    <form ref={form} class="filters" aria-label={texts.title} noValidate onSubmit={submit}>
      {filters.map((filter, at) => (
        <FilterRow
          key={at}
          fields={fields}
          filter={filter}
          currency={currencyOf(filter, filters)}
          error={invalid.get(filter) || errors.get(parameterOf(filter))}
          onChange={(part) => setFilters(filters.map((one) => (one === filter ? { ...filter, ...part } : one)))}
          onRemove={() => {
            setFilters(filters.filter((one) => one !== filter));
            focusNext('.actions button');
          }}
        />
      ))}
      <div class="actions">
        <Button
          onClick={() => {
            setFilters([...filters, { ...empty }]);
            focusNext('.filter-row:nth-last-child(2) select');
          }}
        >
          {texts.add}
        </Button>
        <Button kind="primary" submit>
          {texts.apply}
        </Button>
      </div>
    </form>
  );
}

interface FilterRowProps {
  readonly fields: readonly FilterField[];
  readonly filter: Filter;
  /** In whose unit the value is, if it is an amount. */
  readonly currency: string | undefined;
  readonly error: string | undefined;
  onChange(part: Partial<Filter>): void;
  onRemove(): void;
}

function FilterRow({ fields, filter, currency, error, onChange, onRemove }: FilterRowProps): JSX.Element {
  const { references } = useConsole();
  const field = fields.find(({ name }) => name === filter.field) ?? fields[0];
  const hasKey = isKeyed(fields, filter.field);
  const schema = schemaOf(fields, filter, references);
  const chooseField = (name: string) => {
    const next = fields.find((one) => one.name === name);
    onChange({ field: name, key: '', operator: next?.operators[0]?.name ?? 'equals', value: '' });
  };
  return (
    <fieldset class="filter-row">
      <legend class="hidden">{texts.row}</legend>
      <Field label={texts.field}>
        {(control) => (
          <Select
            {...control}
            value={filter.field}
            options={fields.map(({ name }) => [name, labelOf(name)])}
            onChoose={chooseField}
          />
        )}
      </Field>
      {hasKey && (
        <Field label={texts.key} error={filter.key === '' && filter.value !== '' ? texts.missingKey : undefined}>
          {(control) => <Input {...control} value={filter.key} onType={(key) => onChange({ key })} />}
        </Field>
      )}
      {(!hasKey || Number(field?.operators.length) > 1) && (
        <Field label={texts.operator}>
          {(control) => (
            <Select
              {...control}
              value={filter.operator}
              options={field?.operators.map(({ name }) => [name, texts.operators[name] ?? name]) ?? []}
              onChoose={(operator) => onChange({ operator })}
            />
          )}
        </Field>
      )}
      <Field label={texts.value} error={error} hint={hintOf(filter, schema, currency)}>
        {(control) => (
          <ValueControl {...{ control, schema }} value={filter.value} onType={(value) => onChange({ value })} />
        )}
      </Field>
      <Button class="remove" aria-label={texts.remove} onClick={onRemove}>
        ×
      </Button>
    </fieldset>
  );
}

/** Whether the person chooses the key of a field, as of attributes. */
export function isKeyed(fields: readonly FilterField[], name: string): boolean {
  return fields.find((one) => one.name === name)?.prefix !== undefined;
}

/** The schema of a filter's value. That of a parameter whose keys the person chooses is that of all keys together. */
function schemaOf(fields: readonly FilterField[], { field, operator }: Filter, references: References): Schema {
  const { operators = [], prefix } = fields.find(({ name }) => name === field) ?? fields[0] ?? {};
  const found = operators.find(({ name }) => name === operator) ?? operators[0];
  return prefix !== undefined && found?.name === 'equals' ? {} : references.schema(found?.parameter.schema);
}

function numberKindOf({ field, operator }: Filter, { type, items }: Schema): NumberKind {
  if (field.endsWith('.amount') && operator !== 'exists') return 'amount';
  const own = type === 'array' ? (items as Schema | undefined)?.type : type;
  return own === 'integer' || own === 'number' ? own : undefined;
}

function hintOf(filter: Filter, schema: Schema, currency: string | undefined): string | undefined {
  const kind = numberKindOf(filter, schema);
  const hints = [
    ...(kind === 'amount' ? [texts.amountHint(currency)] : []),
    ...(schema.type === 'array' ? [texts.listHint(kind === undefined ? ',' : numberSeparator())] : []),
  ];
  return hints.length > 0 ? hints.join(' ') : undefined;
}

interface ValueControlProps {
  readonly control: ControlProps;
  readonly schema: Schema;
  readonly value: string;
  onType(value: string): void;
}

function ValueControl({ control, schema, value, onType }: ValueControlProps): JSX.Element {
  const choices = schema.type === 'boolean' ? Object.entries(TEXTS.form.booleans) : choicesOf(schema.enum);
  if (choices) return <Select {...control} {...{ value }} options={[['', ''], ...choices]} onChoose={onType} />;
  if (schema.format !== 'date-time') return <Input {...control} {...{ value, onType }} />;
  const type = (local: string) => onType(local === '' ? '' : instantOf(local));
  return <Input {...control} type="datetime-local" step="1" value={localOf(value)} onType={type} />;
}

function choicesOf(values: readonly unknown[] | undefined): [string, string][] | undefined {
  return values?.map((one) => [String(one), labelOf(String(one))]);
}
