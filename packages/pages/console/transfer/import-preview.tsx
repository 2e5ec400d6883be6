import type { JSX } from 'preact';
import { isShownAtFirst } from '../components/column-menu.js';
import { Value } from '../components/value.js';
import { useConsole } from '../context.js';
import { labelOf } from '../formats.js';
import type { Field, Resource } from '../types.js';
import { useLoad } from '../use-load.js';
import { NoPrice, type PreviewRecord, previewOf } from './preview.js';
import type { Format } from './records-in-file.js';

interface ImportPreviewProps {
  readonly resource: Resource;
  readonly file: File;
  readonly format: Format;
}

/** The first records of a file with their prices as money, because a file can have them in the wrong unit. */
export function ImportPreview({ resource, file, format }: ImportPreviewProps): JSX.Element | null {
  const { importing } = useConsole().texts;
  const { value: records = [] } = useLoad('', () => previewOf(file, format));
  if (records.length === 0) return null;
  const fields = resource.fields.filter(
    (field) => isShownAtFirst(field) && records.some(({ values }) => values?.[field.name] !== undefined),
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
            {records.map((record, at) => (
              <tr key={at}>
                <Cells record={record} fields={fields} />
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

function Cells({ record, fields }: { readonly record: PreviewRecord; readonly fields: readonly Field[] }) {
  const { importing } = useConsole().texts;
  const { values, text } = record;
  if (!values) return <td colSpan={Math.max(fields.length, 1)}>{importing.noRecord(text)}</td>;
  return (
    <>
      {fields.map((field) => {
        const value = values[field.name];
        return (
          <td key={field.name} data-label={labelOf(field.name)}>
            {value instanceof NoPrice ? (
              <strong>{importing.noPrice(value.text)}</strong>
            ) : (
              <Value field={field} value={value} />
            )}
          </td>
        );
      })}
    </>
  );
}
