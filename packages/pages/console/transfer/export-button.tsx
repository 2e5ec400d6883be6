import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Button } from '../components/button.js';
import { Menu } from '../components/menu.js';
import { useConsole } from '../context.js';
import { type Field, formFields } from '../edit/form-model.js';
import { decimalMark } from '../formats.js';
import type { ExportButtonProps } from '../types.js';
import { collectFile } from './collect-file.js';
import { kindOf } from './columns.js';
import { forSpreadsheet } from './for-spreadsheet.js';
import { type FormatDetails, formatsOf } from './formats.js';
import { saveFile } from './save-file.js';

/** What an export is for. */
type Purpose = 'copy' | 'excel' | 'edit';

/** Saves all records that match the list's query as a file. */
export function ExportButton({ resource, query }: ExportButtonProps): JSX.Element | null {
  const { api, references, texts, notify } = useConsole();
  const [bytes, setBytes] = useState<number>();
  const running = useRef<AbortController | undefined>(undefined);
  const hint = useId();
  useEffect(() => () => running.current?.abort(), []);
  const formats = formatsOf(resource.exportTypes);
  if (formats.length === 0) return null;
  const csv = formats.find(({ format }) => format === 'csv');
  const isEditable = resource.importMatches.includes('id') && api.mayWrite(resource);
  const editable = isEditable && formatsOf(resource.importTypes).find((format) => formats.includes(format));
  const isCsvEditable = editable && editable.format === 'csv';
  const fields = formFields(resource.input, references);
  const save = async ({ type, extensions: [extension = ''] }: FormatDetails, purpose: Purpose = 'copy') => {
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    setBytes(0);
    try {
      const names =
        purpose === 'copy' || !resource.importMatches.includes('id') ? {} : { fields: fieldsToEdit(fields, purpose) };
      const stream = await api.collection(resource).exportFile(type, { ...query, ...names }, { signal });
      const name = `${resource.name}${purpose === 'copy' ? '' : `-${purpose}`}${extension}`;
      const collected = await collectFile(stream, { name, type }, setBytes);
      const map = fields.find(({ kind }) => kind === 'map')?.name;
      const options = { name, decimalMark: decimalMark(), map, kindOf: (column: string) => kindOf(column, fields) };
      const file = purpose === 'excel' ? await forSpreadsheet(collected, options) : collected;
      saveFile(file);
      notify({ kind: 'success', text: texts.exporting.done(file.name, texts.exporting.size(file.size)) });
    } catch (error) {
      if (!signal.aborted) {
        const { title, text } = api.describeError(error);
        notify({ kind: 'error', text: `${texts.exporting.failed} ${title}. ${text}` });
      }
    } finally {
      if (running.current === controller) {
        running.current = undefined;
        setBytes(undefined);
      }
    }
  };
  if (bytes !== undefined)
    return (
      <span class="exporting">
        <span>{texts.exporting.running(texts.exporting.size(bytes))}</span>{' '}
        <Button onClick={() => running.current?.abort()}>{texts.exporting.cancel}</Button>
      </span>
    );
  return (
    <Menu label={texts.exporting.button}>
      <p>{texts.exporting.hint}</p>
      {formats.map((format) => (
        <Button key={format.type} onClick={() => void save(format)}>
          {texts.exporting.as(format.name)}
        </Button>
      ))}
      {csv && (
        <>
          <Button aria-describedby={`${hint}-excel`} onClick={() => void save(csv, 'excel')}>
            {texts.exporting.forExcel}
          </Button>
          <p class="hint" id={`${hint}-excel`}>
            {isCsvEditable ? texts.exporting.forExcelAndBack : texts.exporting.forExcelHint}
          </p>
        </>
      )}
      {editable && !isCsvEditable && (
        <>
          <Button aria-describedby={`${hint}-edit`} onClick={() => void save(editable, 'edit')}>
            {texts.exporting.forEditing}
          </Button>
          <p class="hint" id={`${hint}-edit`}>
            {texts.exporting.forEditingHint(editable.name)}
          </p>
        </>
      )}
    </Menu>
  );
}

/** The fields that a person can change, behind the id and the version. In CSV an amount of money is in the major unit. */
function fieldsToEdit(fields: readonly Field[], purpose: Purpose): string[] {
  const names = fields.flatMap(({ name, kind }) =>
    kind === 'price' && purpose === 'excel' ? [`${name}.decimal`, `${name}.currency`] : [name],
  );
  return ['id', 'version', ...names];
}
