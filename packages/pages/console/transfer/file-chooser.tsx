import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../components/button.js';
import { Field } from '../components/field.js';
import { decimalMark } from '../formats.js';
import { TEXTS } from '../texts.js';
import { BYTE_ORDER_MARK, csvRow } from './cells.js';
import { type Format, saveFile } from './files.js';

interface FileChooserProps {
  readonly formats: readonly Format[];
  readonly isCsvOffered: boolean;
  /** Of an empty file to fill in. */
  readonly template: { readonly name: string; readonly columns: readonly string[] };
  onChoose(file: File): void;
}

/** A file, by a dialog or by drag and drop. */
export function FileChooser({ formats, isCsvOffered, template, onChoose }: FileChooserProps): JSX.Element {
  const [isOver, setOver] = useState(false);
  const take = (files: FileList | null | undefined) => {
    const [file] = files ?? [];
    if (file) onChoose(file);
  };
  const over = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };
  return (
    <fieldset
      class={isOver ? 'drop over' : 'drop'}
      onDragEnter={over}
      onDragOver={over}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files);
      }}
    >
      <Field label={TEXTS.importing.file} hint={isCsvOffered ? TEXTS.importing.hint : TEXTS.importing.ndjsonHint}>
        {(control) => (
          <input
            {...control}
            type="file"
            accept={formats.flatMap(({ extensions }) => extensions).join(',')}
            onChange={({ currentTarget }) => take(currentTarget.files)}
          />
        )}
      </Field>
      {isCsvOffered && (
        <Button
          onClick={() => {
            const header = csvRow(template.columns, decimalMark() === ',' ? ';' : ',');
            saveFile(new File([BYTE_ORDER_MARK, header, '\r\n'], template.name, { type: 'text/csv' }));
          }}
        >
          {TEXTS.importing.template}
        </Button>
      )}
    </fieldset>
  );
}
