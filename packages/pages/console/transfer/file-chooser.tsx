import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Field } from '../components/field.js';
import { useConsole } from '../context.js';
import type { FormatDetails } from './formats.js';

interface FileChooserProps {
  readonly formats: readonly FormatDetails[];
  readonly isCsvOffered: boolean;
  onChoose(file: File): void;
}

/** A file, by a dialog or by drag and drop. */
export function FileChooser({ formats, isCsvOffered, onChoose }: FileChooserProps): JSX.Element {
  const { texts } = useConsole();
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
      <Field label={texts.importing.file} hint={isCsvOffered ? texts.importing.hint : texts.importing.ndjsonHint}>
        {(control) => (
          <input
            {...control}
            type="file"
            accept={formats.flatMap(({ extensions }) => extensions).join(',')}
            onChange={({ currentTarget }) => take(currentTarget.files)}
          />
        )}
      </Field>
    </fieldset>
  );
}
