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

const { exporting: texts } = TEXTS;

interface ExportButtonProps {
  readonly resource: Resource;
  /** The filters, search and sort that the list shows, by their parameter names. */
  readonly query: Readonly<Record<string, string>>;
}

/** What an export is for. */
type Purpose = 'copy' | 'excel' | 'edit';

interface Way {
  readonly format: Format;
  readonly purpose: Purpose;
  readonly name: string;
  readonly text?: string;
}

/** Saves all records that match the list's query as a file. */
export function ExportButton({ resource, query }: ExportButtonProps): JSX.Element | null {
  const { api, notify } = useConsole();
  const [bytes, setBytes] = useState<number>();
  const running = useRef<AbortController | undefined>(undefined);
  const hint = useId();
  useEffect(() => () => running.current?.abort(), []);
  const formats = formatsOf(resource.exportTypes);
  if (formats.length === 0) return null;
  const { form: fields } = resource;
  const isEditable = resource.importMatches.includes('id') && api.mayWrite(resource);
  const [toEdit] = formats.filter(({ type }) => isEditable && resource.importTypes.includes(type));
  const csv = formats.find(({ isCsv }) => isCsv);
  const ways: Way[] = [
    ...(toEdit
      ? [{ format: toEdit, purpose: 'edit', name: texts.forEditing, text: texts.forEditingHint(toEdit.isCsv) } as const]
      : []),
    ...(csv ? [{ format: csv, purpose: 'excel', name: texts.forExcel, text: texts.forExcelHint } as const] : []),
    ...formats.map((format): Way => ({ format, purpose: 'copy', name: texts.as(format.name) })),
  ];
  const namesOf = (kind: string) => fields.filter((one) => one.kind === kind).map(({ name }) => name);
  const [prices, [map]] = [namesOf('price'), namesOf('map')];
  const shown = resource.fields.filter(({ isMetadata }) => !isMetadata).map(({ name }) => name);
  /** Those that a person can change, behind the id and the version; or all that a list has. A price is as people write it. */
  const fieldsFor = (purpose: Purpose, isCsv: boolean) => {
    const own = purpose === 'edit' ? ['id', 'version', ...fields.map(({ name }) => name)] : shown;
    return own.flatMap((name) => (isCsv && prices.includes(name) ? [`${name}.decimal`, `${name}.currency`] : [name]));
  };
  const save = async ({ type, isCsv, extensions: [extension = ''] }: Format, purpose: Purpose) => {
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
      notify({ kind: 'success', text: texts.done(file.name, texts.size(file.size)) });
    } catch (error) {
      if (!signal.aborted) {
        const { title, text } = describeError(error);
        notify({ kind: 'error', text: `${texts.failed} ${title}. ${text}` });
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
        <span>{texts.running(texts.size(bytes))}</span>{' '}
        <Button onClick={() => running.current?.abort()}>{texts.cancel}</Button>
      </span>
    );
  return (
    <Menu label={texts.button}>
      <p>{texts.hint}</p>
      {ways.map(({ format, purpose, name, text }) => (
        <Fragment key={name}>
          <Button aria-describedby={text && hint + purpose} onClick={() => void save(format, purpose)}>
            {name}
          </Button>
          {text && (
            <p class="hint" id={hint + purpose}>
              {text}
            </p>
          )}
        </Fragment>
      ))}
    </Menu>
  );
}
