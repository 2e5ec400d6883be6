import type { JSX } from 'preact';
import type { References } from '../../docs/references.js';
import { isShort } from '../components/column-menu.js';
import { Value } from '../components/value.js';
import { ConsoleContext, useConsole } from '../context.js';
import { formFields } from '../edit/form-model.js';
import { labelOf } from '../formats.js';
import type { Field, Resource } from '../types.js';
import { valueIn } from './file-changes.js';
import { NoPrice, type PreviewRecord, untypedColumns } from './preview.js';
import type { Format } from './records-in-file.js';

interface ImportPreviewProps {
  readonly resource: Resource;
  readonly records: readonly PreviewRecord[];
  readonly format: Format;
  /** Whether a record may have a part of a price, because another part is there already. */
  readonly isUpdate: boolean;
}

/** The first records of a file with their prices as money, because a file can have them in the wrong unit. */
export function ImportPreview({ resource, records, format, isUpdate }: ImportPreviewProps): JSX.Element | null {
  const console = useConsole();
  const { importing } = console.texts;
  if (records.length === 0) return null;
  const fields = resource.fields.filter(
    (field) => isShort(field) && records.some(({ values }) => values?.[field.name] !== undefined),
  );
  const hasPrice = records.some(({ values }) => values?.['price'] !== undefined);
  return (
    <>
      <h2>{importing.previewTitle(records.length)}</h2>
      {hasPrice && <p>{format === 'csv' ? importing.csvPrices : importing.ndjsonPrices}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a wide table in it */}
      <section class="table-frame" aria-label={importing.previewTitle(records.length)} tabIndex={0}>
        <table class="records">
          <thead>
            <tr>
              {fields.map(({ name }) => (
                <th key={name} scope="col">
                  {labelOf(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {/* A file names pictures that no record has yet. */}
            <ConsoleContext.Provider value={{ ...console, hasPictures: false }}>
              {records.map((record, at) => (
                <tr key={at}>
                  <Cells {...{ record, fields, isUpdate }} />
                </tr>
              ))}
            </ConsoleContext.Provider>
          </tbody>
        </table>
      </section>
    </>
  );
}

/** Which columns become texts, though they look like numbers or booleans. */
export function UntypedColumns({ records }: Pick<ImportPreviewProps, 'records'>): JSX.Element {
  const { importing } = useConsole().texts;
  return (
    <>
      {untypedColumns(records).map(({ column, typed }) => (
        <p key={column}>{importing.untyped(column, typed)}</p>
      ))}
    </>
  );
}

interface CellsProps extends Pick<ImportPreviewProps, 'isUpdate'> {
  readonly record: PreviewRecord;
  readonly fields: readonly Field[];
}

function Cells({ record, fields, isUpdate }: CellsProps) {
  const { references, texts } = useConsole();
  const { importing, columns } = texts;
  const { values, text } = record;
  if (!values) return <td colSpan={Math.max(fields.length, 1)}>{importing.noRecord(text)}</td>;
  return (
    <>
      {fields.map((field) => {
        const value = values[field.name];
        return (
          <td key={field.name} data-label={labelOf(field.name)}>
            {value instanceof NoPrice ? (
              <strong>{isUpdate ? value.text : importing.noPrice(value.text)}</strong>
            ) : value === undefined || value === null ? (
              <span class="none">{columns.none}</span>
            ) : (
              <Value field={field} value={listIn(value, field, references)} />
            )}
          </td>
        );
      })}
    </>
  );
}

/** The list in a cell of CSV, as an export writes it; another value as it is. */
function listIn(value: unknown, { name, schema }: Field, references: References): unknown {
  if (schema.type !== 'array' || typeof value !== 'string') return value;
  const [field] = formFields({ properties: { [name]: schema } }, references);
  return valueIn(value, field);
}
