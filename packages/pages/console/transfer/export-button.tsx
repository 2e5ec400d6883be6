import { Fragment, type JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Button } from '../components/button.js';
import { Menu } from '../components/menu.js';
import { useConsole } from '../context.js';
import { describeError } from '../describe-error.js';
import { decimalMark } from '../formats.js';
import { TEXTS } from '../texts.js';
import type { Resource } from '../types.js';
import { kindOf } from './columns.js';
import { type Format, formatsOf, saveFile } from './files.js';
import { forSpreadsheet } from './for-spreadsheet.js';

interface ExportButtonProps {
  readonly resource: Resource;
  /** The filters, search and sort that the list shows, by their parameter names. */
  readonly query: Readonly<Record<string, string>>;
}

/** What an export is for. */
type Purpose = 'copy' | 'excel' | 'edit';

/** Saves all records that match the list's query as a file. */
export function ExportButton({ resource, query }: ExportButtonProps): JSX.Element | null {
  const { api, notify } = useConsole();
  const [bytes, setBytes] = useState<number>();
  const running = useRef<AbortController | undefined>(undefined);
  const hint = useId();
  useEffect(() => () => running.current?.abort(), []);
  const formats = formatsOf(resource.exportTypes);
  if (formats.length === 0) return null;
  const isEditable = resource.importMatches.includes('id') && api.mayWrite(resource);
  const { form: fields } = resource;
  const toEdit = isEditable ? formats.filter(({ type }) => resource.importTypes.includes(type)) : [];
  const { forEditing, forEditingHint, forExcel, forExcelHint } = TEXTS.exporting;
  const forPeople = [
    ...toEdit
      .slice(0, 1)
      .map((format) => ({ format, purpose: 'edit', name: forEditing, text: forEditingHint(format.isCsv) }) as const),
    ...formats
      .filter(({ isCsv }) => isCsv)
      .map((format) => ({ format, purpose: 'excel', name: forExcel, text: forExcelHint }) as const),
  ];
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
      notify({ kind: 'success', text: TEXTS.exporting.done(file.name, TEXTS.exporting.size(file.size)) });
    } catch (error) {
      if (!signal.aborted) {
        const { title, text } = describeError(error);
        notify({ kind: 'error', text: `${TEXTS.exporting.failed} ${title}. ${text}` });
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
        <span>{TEXTS.exporting.running(TEXTS.exporting.size(bytes))}</span>{' '}
        <Button onClick={() => running.current?.abort()}>{TEXTS.exporting.cancel}</Button>
      </span>
    );
  return (
    <Menu label={TEXTS.exporting.button}>
      <p>{TEXTS.exporting.hint}</p>
      {formats.map((format) => (
        <Button key={format.type} onClick={() => void save(format)}>
          {TEXTS.exporting.as(format.name)}
        </Button>
      ))}
      {forPeople.map(({ format, purpose, name, text }) => (
        <Fragment key={purpose}>
          <Button aria-describedby={`${hint}-${purpose}`} onClick={() => void save(format, purpose)}>
            {name}
          </Button>
          <p class="hint" id={`${hint}-${purpose}`}>
            {text}
          </p>
        </Fragment>
      ))}
    </Menu>
  );
}
