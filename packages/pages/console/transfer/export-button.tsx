import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Button } from '../components/button.js';
import { Menu } from '../components/menu.js';
import { useConsole } from '../context.js';
import { describeError } from '../describe-error.js';
import { decimalMark } from '../formats.js';
import type { ExportButtonProps } from '../types.js';
import { kindOf } from './columns.js';
import { forSpreadsheet } from './for-spreadsheet.js';
import { type Format, formatsOf } from './formats.js';
import { saveFile } from './save-file.js';

/** What an export is for. */
type Purpose = 'copy' | 'excel' | 'edit';

/** Saves all records that match the list's query as a file. */
export function ExportButton({ resource, query }: ExportButtonProps): JSX.Element | null {
  const { api, texts, notify } = useConsole();
  const [bytes, setBytes] = useState<number>();
  const running = useRef<AbortController | undefined>(undefined);
  const hint = useId();
  useEffect(() => () => running.current?.abort(), []);
  const formats = formatsOf(resource.exportTypes);
  if (formats.length === 0) return null;
  const csv = formats.find(({ isCsv }) => isCsv);
  const isEditable = resource.importMatches.includes('id') && api.mayWrite(resource);
  const editable = isEditable && formatsOf(resource.importTypes).find((format) => formats.includes(format));
  const { form: fields } = resource;
  const namesOf = (kind: string) => fields.filter((one) => one.kind === kind).map(({ name }) => name);
  const [prices, [map]] = [namesOf('price'), namesOf('map')];
  const shown = resource.fields.filter(({ isMetadata }) => !isMetadata).map(({ name }) => name);
  /** Those that a person can change, behind the id and the version; or all that a list has. A price is as people write it. */
  const fieldsFor = (purpose: Purpose, isCsv: boolean) => {
    const own = purpose === 'edit' ? ['id', 'version', ...fields.map(({ name }) => name)] : shown;
    return own.flatMap((name) => (isCsv && prices.includes(name) ? [`${name}.decimal`, `${name}.currency`] : [name]));
  };
  const save = async ({ type, isCsv, extensions: [extension = ''] }: Format, purpose: Purpose = 'copy') => {
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    setBytes(0);
    let read = 0;
    const counter = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, counted) {
        read += piece.length;
        setBytes(read);
        counted.enqueue(piece);
      },
    });
    try {
      const names = purpose === 'copy' ? {} : { fields: fieldsFor(purpose, isCsv) };
      const stream = await api.collection(resource).exportFile(type, { ...query, ...names }, { signal });
      const name = `${resource.name}${purpose === 'copy' ? '' : `-${purpose}`}${extension}`;
      // A browser keeps blobs outside the memory of the page, and large ones on its disk.
      const collected = new File([await new Response(stream.pipeThrough(counter)).blob()], name, { type });
      const options = { name, decimalMark: decimalMark(), map, kindOf: (column: string) => kindOf(column, fields) };
      const file = purpose !== 'copy' && isCsv ? await forSpreadsheet(collected, options) : collected;
      saveFile(file);
      notify({ kind: 'success', text: texts.exporting.done(file.name, texts.exporting.size(file.size)) });
    } catch (error) {
      if (!signal.aborted) {
        const { title, text } = describeError(error);
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
      {editable && (
        <>
          <Button aria-describedby={`${hint}-edit`} onClick={() => void save(editable, 'edit')}>
            {texts.exporting.forEditing}
          </Button>
          <p class="hint" id={`${hint}-edit`}>
            {texts.exporting.forEditingHint(editable.isCsv)}
          </p>
        </>
      )}
      {csv && (
        <>
          <Button aria-describedby={`${hint}-excel`} onClick={() => void save(csv, 'excel')}>
            {texts.exporting.forExcel}
          </Button>
          <p class="hint" id={`${hint}-excel`}>
            {texts.exporting.forExcelHint}
          </p>
        </>
      )}
    </Menu>
  );
}
