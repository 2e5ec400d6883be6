import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Button } from '../components/button.js';
import { Notice } from '../components/notice.js';
import { useConsole } from '../context.js';
import { UnsavedGuard } from '../edit/unsaved.js';
import { randomKey } from '../random-key.js';
import { hashOf } from '../router.js';
import { FileChooser } from '../transfer/file-chooser.js';
import { type FormatDetails, formatOfFile, formatsOf } from '../transfer/formats.js';
import { ImportPreview, UntypedColumns } from '../transfer/import-preview.js';
import { type ImportUse, likelyUse, UseChooser } from '../transfer/import-use.js';
import { type PreviewRecord, previewOf } from '../transfer/preview.js';
import { saveFile } from '../transfer/save-file.js';
import { hasEffect, RunFindings, RunStatus, refusedIn, useRun } from '../transfer/use-run.js';
import type { ResourcePageProps } from '../types.js';

interface Chosen {
  readonly file: File;
  readonly format: FormatDetails;
  /** The first ones. */
  readonly records: readonly PreviewRecord[];
  /** Random, so that nothing of the file is added twice. */
  readonly key: string;
}

/** Imports a file, and shows what became of its records. */
export function ImportPage({ resource: described }: ResourcePageProps): JSX.Element {
  const { api, texts: all } = useConsole();
  // What an update and a check tell about records needs the scope that reads them.
  const resource = api.mayRead(described) ? described : { ...described, importMatches: [] };
  const texts = all.importing;
  const formats = formatsOf(resource.importTypes);
  const [chosen, setChosen] = useState<Chosen>();
  const [use, setUse] = useState<ImportUse>(() => likelyUse(resource, []));
  const [refusal, setRefusal] = useState<string>();
  const heading = useRef<HTMLHeadingElement>(null);
  // The button that had the focus disappears.
  const run = useRun(resource, () => heading.current?.focus());
  const { state, progress, attempt, isCheck, isActive, mayResume } = run;
  const isUpdate = use.match !== undefined;
  const isUnfinished = !isCheck && (isActive || mayResume);

  const choose = async (file: File) => {
    const format = formatOfFile(file);
    const isKnown = format !== undefined && formats.includes(format);
    setRefusal(isKnown ? undefined : texts.wrongFormat(file.name, namesOf(formats)));
    if (!isKnown) return;
    // A file that cannot be read says so when it is sent.
    const records = await previewOf(file, format.format).catch(() => []);
    setUse(likelyUse(resource, records));
    setChosen({ file, format, records, key: randomKey() });
  };
  const begin = ({ file, format, key }: Chosen, isCheck: boolean) =>
    run.begin({ file, type: format.type, format: format.format, use, isCheck, key });

  if (!api.mayWrite(resource) || formats.length === 0)
    return (
      <>
        <h1>{texts.title(resource.title)}</h1>
        <Notice kind="error">
          <p>{formats.length === 0 ? texts.none(resource.title) : texts.forbidden}</p>
        </Notice>
      </>
    );
  const list = hashOf({ page: 'list', resource: resource.name, query: new URLSearchParams() });
  return (
    <div class="import">
      <UnsavedGuard isDirty={isUnfinished} words={texts.leaving} />
      <p>
        <a href={list}>{resource.title}</a>
      </p>
      <h1 ref={heading} tabIndex={-1}>
        {texts.title(resource.title)}
      </h1>
      {!chosen && (
        <FileChooser formats={formats} isCsvOffered={hasCsv(formats)} onChoose={(file) => void choose(file)} />
      )}
      {refusal && !chosen && (
        <Notice kind="error">
          <p>{refusal}</p>
        </Notice>
      )}
      {chosen && (
        <>
          <p class="chosen-file">
            <strong>{chosen.file.name}</strong> ({all.exporting.size(chosen.file.size)})
          </p>
          <UseChooser
            {...{ resource, use }}
            isCsv={chosen.format.format === 'csv'}
            isDisabled={isActive || isUnfinished}
            onChoose={(other) => {
              setUse(other);
              run.reset();
            }}
          />
        </>
      )}
      {chosen && state.step === 'ready' && (
        <ImportPreview {...{ resource, isUpdate }} records={chosen.records} format={chosen.format.format} />
      )}
      {chosen && (state.step === 'ready' || isCheck) && <UntypedColumns records={chosen.records} />}
      <RunStatus {...{ resource, run }} />
      {chosen && (
        <div class="actions">
          {(state.step === 'ready' ? !isUpdate : isCheck && state.step === 'done' && hasEffect(progress)) && (
            <Button kind="primary" onClick={() => begin(chosen, false)}>
              {texts.start}
            </Button>
          )}
          {state.step === 'ready' && resource.importMatches.length > 0 && (
            <Button kind={isUpdate ? 'primary' : 'plain'} onClick={() => begin(chosen, true)}>
              {texts.check}
            </Button>
          )}
          {isActive && <Button onClick={run.stop}>{texts.cancel}</Button>}
          {attempt && refusedIn(progress) > 0 && (
            <Button onClick={() => saveFile(attempt.run.refusedFile)}>{texts.download(refusedIn(progress))}</Button>
          )}
          {!isActive && (
            <Button
              onClick={() => {
                setChosen(undefined);
                run.reset();
              }}
            >
              {texts.another}
            </Button>
          )}
          {state.step === 'done' && !isCheck && <a href={list}>{texts.toList(resource.title)}</a>}
        </div>
      )}
      <RunFindings {...{ resource, run }} />
    </div>
  );
}

function namesOf(formats: readonly FormatDetails[]): string {
  return formats.map(({ name, extensions }) => `${name} (${extensions.join(', ')})`).join(' or ');
}

function hasCsv(formats: readonly FormatDetails[]): boolean {
  return formats.some(({ format }) => format === 'csv');
}
