import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Button } from '../components/button.js';
import { Menu } from '../components/menu.js';
import { useConsole } from '../context.js';
import type { ExportButtonProps } from '../types.js';
import { collectFile } from './collect-file.js';
import { forExcel } from './for-excel.js';
import { type FormatDetails, formatsOf } from './formats.js';
import { saveFile } from './save-file.js';

/** Saves all records that match the list's query as a file. */
export function ExportButton({ resource, query }: ExportButtonProps): JSX.Element | null {
  const { api, texts, notify } = useConsole();
  const [bytes, setBytes] = useState<number>();
  const running = useRef<AbortController | undefined>(undefined);
  const hint = useId();
  useEffect(() => () => running.current?.abort(), []);
  const formats = formatsOf(resource.exportTypes);
  if (formats.length === 0) return null;
  const csv = formats.find(({ format }) => format === 'csv');
  const save = async ({ type, extensions: [extension = ''] }: FormatDetails, isForExcel = false) => {
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    setBytes(0);
    try {
      const stream = await api.collection(resource).exportFile(type, query, { signal });
      const name = `${resource.name}${isForExcel ? '-excel' : ''}${extension}`;
      const file = await collectFile(isForExcel ? forExcel(stream) : stream, { name, type }, setBytes);
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
          <Button aria-describedby={hint} onClick={() => void save(csv, true)}>
            {texts.exporting.forExcel}
          </Button>
          <p class="hint" id={hint}>
            {texts.exporting.forExcelHint}
          </p>
        </>
      )}
    </Menu>
  );
}
