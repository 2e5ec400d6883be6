import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Choice, TextField } from '../components/field.js';
import { FramedTable } from '../components/framed-table.js';
import type { Field as FormField } from '../edit/form-model.js';
import { isObject, isSame, type Json, member } from '../edit/json.js';
import { isPrice, labelOf, priceText } from '../formats.js';
import { TEXTS } from '../texts.js';
import { attributeColumn, columnsOf, otherSpelling } from './columns.js';
import { ERROR } from './failed-records.js';
import { columnPath } from './file-changes.js';
import { ENCODINGS, SEPARATORS } from './files.js';
import { NUMBERS, type Reading } from './reading.js';
import type { ChosenFile, useFile } from './use-file.js';

const { importing } = TEXTS;
const { reading: texts } = importing;

interface ColumnsStepProps {
  readonly file: Pick<ReturnType<typeof useFile>, 'control' | 'correct' | 'change'>;
  readonly chosen: ChosenFile;
  readonly fields: readonly FormField[];
  /** Whether a price may be a part of one, because the record has the other. */
  readonly isUpdate: boolean;
}

/**
 * The first values of each column of a file, or member of its records. Of CSV also how it is read: what was recognised, as
 * choices to correct, and what becomes of each column.
 */
export function ColumnsStep({ file, chosen, fields, isUpdate }: ColumnsStepProps): JSX.Element | null {
  const { rows, records } = chosen;
  const reading = rows?.reading;
  if (!reading && records.length === 0) return null;
  const columns = reading?.columns ?? [];
  const names = rows?.names ?? [...new Set(records.flatMap(({ values }) => Object.keys(values ?? {})))];
  const choose = (one: Reading, at: number, column: string) =>
    void file.change({
      ...one,
      columns: columns.map((old, place) => (place === at ? column : old === column ? '' : old)),
    });
  return (
    <>
      <FramedTable
        title={reading ? texts.title : importing.previewTitle(records.length)}
        columns={[texts.inFile, texts.values, ...(reading ? [texts.goesTo] : [])]}
        class="file-columns"
        above={reading ? <Switches {...{ reading, file }} /> : names.includes('price') && <p>{importing.prices}</p>}
      >
        {names.map((name, at) => {
          const column = reading ? (columns[at] ?? '') : name;
          const shown = valuesOf(chosen, column, at);
          if (name === ERROR || (name === '' && shown.length === 0)) return null;
          return (
            <tr key={at}>
              <th scope="row" data-label={texts.inFile}>
                {name === '' ? texts.nameless(at + 1) : name}
              </th>
              <td data-label={texts.values}>
                <ul class="examples">
                  {shown.map((value, place) => (
                    <Example key={place} {...{ value, isUpdate }} isOfPrice={isOfPrice(column)} />
                  ))}
                  {shown.length === 0 && <li class="none">{TEXTS.columns.none}</li>}
                </ul>
              </td>
              {reading && (
                <td data-label={texts.goesTo}>
                  <ColumnChoice
                    {...{ name, column, fields, control: file.control }}
                    attributes={chosen.attributes ?? []}
                    onChoose={(one) => choose(reading, at, one)}
                  />
                </td>
              )}
            </tr>
          );
        })}
      </FramedTable>
      {records
        .filter(({ values }) => values === undefined)
        .slice(0, MOST)
        .map(({ text, problem }) => (
          <p key={text} class="field-error">
            {importing.noRecord(text.trim().slice(0, 200), problem)}
          </p>
        ))}
    </>
  );
}

/** How CSV is written, as recognised, and the currency of prices that have none. */
function Switches({ file, reading }: Pick<ColumnsStepProps, 'file'> & { readonly reading: Reading }): JSX.Element {
  const { columns, currency } = reading;
  const has = (member: string) => columns.some((column) => column.endsWith(member));
  const choice = <Name extends 'separator' | 'encoding' | 'numbers'>(
    name: Name,
    values: readonly Reading[Name][],
    words: Readonly<Record<Reading[Name], string>>,
  ) => (
    <Choice
      label={texts[name]}
      options={values.map((one) => [one, words[one]])}
      value={reading[name]}
      onChoose={(chosen: Reading[Name]) => void file.correct({ [name]: chosen })}
    />
  );
  return (
    <div class="switches">
      {choice('separator', SEPARATORS, texts.separators)}
      {choice('encoding', ENCODINGS, texts.encodings)}
      {choice('numbers', NUMBERS, texts.spellings)}
      {has('.decimal') && !has('.currency') && (
        <TextField
          label={texts.currency}
          size={4}
          maxLength={3}
          placeholder="EUR"
          value={currency}
          onType={(code) => void file.change({ ...reading, currency: code.toUpperCase() })}
        />
      )}
    </div>
  );
}

/** How many values of a column, and how many records that are none, are shown. */
const MOST = 3;

/** The first different values: as they are sent, or as they are in the file if the column is left out. */
function valuesOf({ sample, records }: ChosenFile, column: string, at: number): Json[] {
  const path = columnPath(column);
  const values = records.map(({ values }, row) => {
    if (column === '') return sample?.rows[row]?.[at] || undefined;
    const value = member(values, path.name);
    return path.key === undefined || isOfPrice(column) ? value : member(value, path.key);
  });
  const found = values.filter((value) => value !== undefined && value !== null);
  return found.filter((value, first) => found.findIndex((other) => isSame(other, value)) === first).slice(0, MOST);
}

/** Whether a column has amounts, whose unit counts. */
function isOfPrice(column: string): boolean {
  return /^price(\.amount|\.decimal)?$/.test(column);
}

interface ValueProps {
  readonly value: Json;
  readonly isOfPrice: boolean;
  readonly isUpdate: boolean;
}

/** A value, or what stands where a price should. An update takes a part of a price, because the record has the other. */
function Example({ value, isOfPrice, isUpdate }: ValueProps): JSX.Element {
  if (isPrice(value) || !isOfPrice) return <li>{isPrice(value) ? priceText(value) : plainText(value)}</li>;
  const parts = isObject(value) ? Object.values(value) : [];
  const text = parts.length > 0 ? parts.join(' ') : JSON.stringify(value);
  return (
    <li>
      <strong>{isUpdate && parts.length === 1 ? text : importing.noPrice(text)}</strong>
    </li>
  );
}

/** A value of JSON, or a cell. */
function plainText(value: Json): string {
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

interface ColumnChoiceProps {
  readonly fields: readonly FormField[];
  readonly control: readonly string[];
  /** The names of those that records have. */
  readonly attributes: readonly string[];
  /** Of the column of the file. */
  readonly name: string;
  readonly column: string;
  onChoose(column: string): void;
}

/** The field, or the attribute, that a column of a file becomes. */
function ColumnChoice({ name, column, fields, control, attributes, onChoose }: ColumnChoiceProps): JSX.Element {
  const id = useId();
  const map = fields.find(({ kind }) => kind === 'map')?.name ?? '';
  const keyIn = (path: ReturnType<typeof columnPath>) => (path.name === map ? path.key : undefined);
  const path = columnPath(column);
  const key = keyIn(path);
  const own = keyIn(columnPath(name)) ?? name.trim();
  const spelled = otherSpelling(own, attributes);
  /** The spelling that records have, if this one differs from it or came from it. */
  const known = key === undefined ? undefined : key === spelled ? key : otherSpelling(key, attributes);
  const keys = [...new Set([own, spelled, key, known])].filter((one) => one);
  // The name that the file has stays, as `attributes.colour`.
  const asAttribute = (one: string, type: 'text' | 'number' | 'boolean') =>
    one === key && (path.type ?? 'text') === type ? column : attributeColumn(map, one, type);
  return (
    <div>
      <select
        aria-label={texts.columnOf(name)}
        aria-describedby={known === undefined ? undefined : id}
        value={column}
        onChange={({ currentTarget }) => onChoose(currentTarget.value)}
      >
        <option value="">{texts.none}</option>
        <optgroup label={texts.fields}>
          {columnsOf(fields, control).map((one) => (
            <option key={one} value={one}>
              {texts.columns[one] ?? labelOf(one)}
            </option>
          ))}
        </optgroup>
        {map !== '' &&
          keys.map((one = '') => (
            <optgroup key={one} label={texts.attribute(one)}>
              {(['text', 'number', 'boolean'] as const).map((type) => (
                <option key={type} value={asAttribute(one, type)}>
                  {texts.attributeAs(one, TEXTS.form.types[type])}
                </option>
              ))}
            </optgroup>
          ))}
      </select>
      {known !== undefined && (
        <p id={id} class={known === key ? 'hint' : 'field-error'}>
          {texts.spelled(known, known === key)}
        </p>
      )}
    </div>
  );
}
