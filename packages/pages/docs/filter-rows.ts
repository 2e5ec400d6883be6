import { button, element, labelled, newId, selection } from './element.js';
import { typeOf } from './examples.js';
import type { FilterField, FilterOperator } from './filters.js';
import { type ParameterField, parameterField } from './parameter-field.js';
import type { References } from './references.js';
import type { ParameterValue } from './request.js';

export interface FilterRows {
  readonly view: HTMLElement;
  values(): ParameterValue[];
}

interface Row {
  readonly view: HTMLElement;
  readonly field: HTMLSelectElement;
  value(): ParameterValue;
}

/** Filters as rows of field, operator and value, which the person adds and removes. */
export function filterRows(fields: readonly FilterField[], references: References): FilterRows {
  let rows: Row[] = [];
  const list = element('div', { class: 'filter-rows' });
  const changed = () => list.dispatchEvent(new Event('input', { bubbles: true }));
  const remove = (row: Row) => {
    const at = rows.indexOf(row);
    rows = rows.filter((one) => one !== row);
    row.view.remove();
    (rows[at] ?? rows[at - 1])?.field.focus();
    if (rows.length === 0) add.focus();
    changed();
  };
  const add = button('Add filter', () => {
    const row: Row = filterRow(fields, references, () => remove(row));
    rows.push(row);
    list.append(row.view);
    row.field.focus();
    changed();
  });
  const view = element('fieldset', { class: 'filters' }, element('legend', {}, 'Filters'), list, add);
  return { view, values: () => rows.map((row) => row.value()) };
}

function filterRow(fields: readonly FilterField[], references: References, remove: () => void): Row {
  const field = selection(fields.map(({ name, prefix }) => (prefix === undefined ? name : `${prefix}*`)));
  const operator = selection([]);
  const key = element('input', { id: newId(), type: 'text', spellcheck: 'false', autocomplete: 'off' });
  const keyBox = labelled('Key', key);
  const operatorBox = labelled('Operator', operator);
  const valueBox = element('div', { class: 'filter-value' });
  let value: ParameterField;
  let isBoolean = false;
  const chosen = () => fields[field.selectedIndex] as FilterField;
  const chosenOperator = () => chosen().operators[operator.selectedIndex] as FilterOperator;
  const showValue = (initial: string) => {
    const { parameter } = chosenOperator();
    isBoolean = typeOf(references.schema(parameter.schema)) === 'boolean';
    value = parameterField(parameter, references, { label: 'Value', initial });
    valueBox.replaceChildren(value.view);
  };
  const showOperators = () => {
    const { operators, prefix } = chosen();
    operator.replaceChildren(...operators.map(({ name }) => element('option', {}, name)));
    operatorBox.hidden = operators.length < 2;
    keyBox.hidden = prefix === undefined;
    showValue('');
  };
  field.addEventListener('input', showOperators);
  // True or false is no value of another operator.
  operator.addEventListener('input', () => showValue(isBoolean ? '' : value.value().text));
  showOperators();
  const view = element(
    'div',
    { class: 'filter-row', role: 'group', 'aria-label': 'Filter' },
    labelled('Field', field),
    keyBox,
    operatorBox,
    valueBox,
    button('×', remove, { 'aria-label': 'Remove this filter' }),
  );
  const read = (): ParameterValue => {
    const entered = value.value();
    return { ...entered, parameter: { ...entered.parameter, name: chosenOperator().nameOf(key.value) } };
  };
  return { view, field, value: read };
}
