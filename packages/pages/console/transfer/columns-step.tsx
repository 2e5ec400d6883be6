import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Field } from '../components/field.js';
import { useConsole } from '../context.js';
import type { Field as FormField } from '../edit/form-model.js';
import { labelOf, priceText } from '../formats.js';
import { NUMBERS, type Numbers } from './cells.js';
import { attributeColumn, columnsOf } from './columns.js';
import { ERROR } from './failed-records.js';
import { columnPath } from './file-changes.js';
import { NoPrice, type PreviewRecord } from './preview.js';
import { ENCODINGS, type Reading, type Sample, SEPARATORS } from './reading.js';

interface ColumnsStepProps {
  readonly sample: Sample;
  readonly reading: Reading;
  readonly fields: readonly FormField[];
  /** The columns that only an update has. */
  readonly control: readonly string[];
  /** The first ones, as they are sent. */
  readonly records: readonly PreviewRecord[];
  /** Whether a price may be a part of one, because the record has the other. */
  readonly isUpdate: boolean;
  /** The person says that the file is written otherwise. */
  onCorrect(written: Partial<Pick<Reading, 'encoding' | 'separator' | 'numbers'>>): void;
  onChange(reading: Reading): void;
}

/** How a file of CSV is read: what was recognised, as choices to correct, and what becomes of each column. */
export function ColumnsStep(props: ColumnsStepProps): JSX.Element {
  const { sample, reading, fields, control, records, isUpdate, onCorrect, onChange } = props;
  const { reading: texts } = useConsole().texts.importing;
  const { columns } = reading;
  const hasPrices = columns.some((column) => column.endsWith('.decimal'));
  const needsCurrency = hasPrices && !columns.some((column) => column.endsWith('.currency'));
  const problems = records.filter(({ values }) => values === undefined);
  const choose = (at: number, column: string) =>
    onChange({ ...reading, columns: columns.map((one, place) => (place === at ? column : one === column ? '' : one)) });
  return (
    <>
      <h2>{texts.title}</h2>
      <div class="switches">
        <Choice
          label={texts.separator}
          options={SEPARATORS}
          words={texts.separators}
          value={reading.separator}
          onChoose={(separator) => onCorrect({ separator })}
        />
        <Choice
          label={texts.encoding}
          options={ENCODINGS}
          words={texts.encodings}
          value={reading.encoding}
          onChoose={(encoding) => onCorrect({ encoding })}
        />
        <Choice<Numbers>
          label={texts.numbers}
          options={NUMBERS}
          words={texts.spellings}
          value={reading.numbers}
          onChoose={(numbers) => onCorrect({ numbers })}
        />
        {needsCurrency && (
          <Field label={texts.currency}>
            {(one) => (
              <input
                {...one}
                size={4}
                maxLength={3}
                placeholder="EUR"
                value={reading.currency}
                onInput={({ currentTarget }) => onChange({ ...reading, currency: currentTarget.value.toUpperCase() })}
              />
            )}
          </Field>
        )}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a wide table in it */}
      <section class="table-frame" aria-label={texts.title} tabIndex={0}>
        <table class="records file-columns">
          <thead>
            <tr>
              <th scope="col">{texts.inFile}</th>
              <th scope="col">{texts.values}</th>
              <th scope="col">{texts.goesTo}</th>
            </tr>
          </thead>
          <tbody>
            {sample.header.map((name, at) => {
              const shown = valuesOf(records, columns[at] ?? '', sample, at);
              if (name === ERROR || (name === '' && shown.length === 0)) return null;
              return (
                <tr key={at}>
                  <th scope="row" data-label={texts.inFile}>
                    {name === '' ? texts.nameless(at + 1) : name}
                  </th>
                  <td data-label={texts.values}>
                    <Values values={shown} isUpdate={isUpdate} />
                  </td>
                  <td data-label={texts.goesTo}>
                    <ColumnChoice
                      {...{ name, fields, control }}
                      column={columns[at] ?? ''}
                      onChoose={(column) => choose(at, column)}
                    />
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </section>
      {problems.map(({ text, problem = '' }) => (
        <p key={text} class="field-error">
          {texts.noRecord(text.slice(0, 200), problem)}
        </p>
      ))}
    </>
  );
}

/** What stands in a column of the first records: as it is sent, or as it is in the file if it is left out. */
function valuesOf(records: readonly PreviewRecord[], column: string, { rows }: Sample, at: number): unknown[] {
  const isAmount = /\.(decimal|amount)$/.test(column);
  const values =
    column === ''
      ? rows.slice(0, records.length).map((row) => row[at] || undefined)
      : records.map((record) => record.values?.[isAmount ? 'price' : column]);
  return [...new Set(values.filter((value) => value !== undefined))].slice(0, 3);
}

interface ValuesProps extends Pick<ColumnsStepProps, 'isUpdate'> {
  readonly values: readonly unknown[];
}

function Values({ values, isUpdate }: ValuesProps): JSX.Element {
  const { columns, importing } = useConsole().texts;
  if (values.length === 0) return <span class="none">{columns.none}</span>;
  return (
    <ul class="examples">
      {values.map((value, at) => (
        <li key={at}>
          {value instanceof NoPrice ? (
            <strong>{isUpdate && value.isPart ? value.text : importing.noPrice(value.text)}</strong>
          ) : typeof value === 'object' ? (
            priceText(value as Parameters<typeof priceText>[0])
          ) : (
            String(value)
          )}
        </li>
      ))}
    </ul>
  );
}

interface ColumnChoiceProps extends Pick<ColumnsStepProps, 'fields' | 'control'> {
  /** Of the column of the file. */
  readonly name: string;
  readonly column: string;
  onChoose(column: string): void;
}

/** The field, or the attribute, that a column of a file becomes. */
function ColumnChoice({ name, column, fields, control, onChoose }: ColumnChoiceProps): JSX.Element {
  const { importing, form } = useConsole().texts;
  const { reading: texts } = importing;
  const map = fields.find(({ kind }) => kind === 'map')?.name;
  const path = columnPath(column);
  const key = path.name === map ? (path.key ?? name) : name;
  const attributes = (['text', 'number', 'boolean'] as const).map((type) => {
    // The name that the file has stays, as `attributes.colour`.
    const isOwn = path.name === map && path.key !== undefined && (path.type ?? 'text') === type;
    return { type, column: isOwn ? column : attributeColumn(map ?? '', key, type) };
  });
  return (
    <select
      aria-label={texts.columnOf(name)}
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
      {map !== undefined && key !== '' && (
        <optgroup label={texts.attribute(key)}>
          {attributes.map(({ type, column: one }) => (
            <option key={one} value={one}>
              {texts.attributeAs(key, form.types[type])}
            </option>
          ))}
        </optgroup>
      )}
    </select>
  );
}

interface ChoiceProps<One extends string> {
  readonly label: string;
  readonly options: readonly One[];
  readonly words: Readonly<Record<One, string>>;
  readonly value: One;
  onChoose(one: One): void;
}

function Choice<One extends string>({ label, options, words, value, onChoose }: ChoiceProps<One>): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value as One)}>
        {options.map((one) => (
          <option key={one} value={one}>
            {words[one]}
          </option>
        ))}
      </select>
    </div>
  );
}
