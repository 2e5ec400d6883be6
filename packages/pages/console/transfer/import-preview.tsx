import type { JSX } from 'preact';
import { isShort } from '../components/column-menu.js';
import { Value } from '../components/value.js';
import { ConsoleContext, useConsole } from '../context.js';
import { labelOf } from '../formats.js';
import type { Field, Resource } from '../types.js';
import { NoPrice, type PreviewRecord } from './preview.js';

interface ImportPreviewProps {
  readonly resource: Resource;
  readonly records: readonly PreviewRecord[];
  /** Whether a record may have a part of a price, because another part is there already. */
  readonly isUpdate: boolean;
}

/** The first records of NDJSON with their prices as money, because a file can have them in the wrong unit. */
export function ImportPreview({ resource, records, isUpdate }: ImportPreviewProps): JSX.Element | null {
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
      {hasPrice && <p>{importing.prices}</p>}
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

interface CellsProps extends Pick<ImportPreviewProps, 'isUpdate'> {
  readonly record: PreviewRecord;
  readonly fields: readonly Field[];
}

function Cells({ record, fields, isUpdate }: CellsProps) {
  const { texts } = useConsole();
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
              <strong>{isUpdate && value.isPart ? value.text : importing.noPrice(value.text)}</strong>
            ) : value === undefined || value === null ? (
              <span class="none">{columns.none}</span>
            ) : (
              <Value field={field} value={value} />
            )}
          </td>
        );
      })}
    </>
  );
}
