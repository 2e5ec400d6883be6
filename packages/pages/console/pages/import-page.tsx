import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Breadcrumb } from '../components/breadcrumb.js';
import { Button } from '../components/button.js';
import { Notice } from '../components/notice.js';
import { useConsole } from '../context.js';
import { UnsavedGuard } from '../edit/unsaved.js';
import { randomKey } from '../random-key.js';
import { hashOfList } from '../router.js';
import { TEXTS } from '../texts.js';
import { templateColumns } from '../transfer/columns.js';
import { ColumnsStep } from '../transfer/columns-step.js';
import type { ImportUse } from '../transfer/file-changes.js';
import { FileChooser } from '../transfer/file-chooser.js';
import { type Format, formatOfFile, formatsOf, saveFile } from '../transfer/files.js';
import { RunFindings } from '../transfer/import-findings.js';
import { hasEffect, refusedIn } from '../transfer/import-run.js';
import { likelyUse, UseChooser } from '../transfer/import-use.js';
import { RunStatus } from '../transfer/run-status.js';
import { type ChosenFile, useFile } from '../transfer/use-file.js';
import { useRun } from '../transfer/use-run.js';
import type { ResourcePageProps } from '../types.js';

/** Imports a file, and shows what became of its records. */
export function ImportPage({ resource: described }: ResourcePageProps): JSX.Element {
  const { api } = useConsole();
  // What an update and a check tell about records needs the scope that reads them.
  const resource = api.mayRead(described) ? described : { ...described, importMatches: [] };
  const { importing: texts } = TEXTS;
  const formats = formatsOf(resource.importTypes);
  const { form: fields } = resource;
  const collection = api.mayRead(described) ? api.collection(resource) : undefined;
  const file = useFile({ resource, fields, collection });
  const { chosen } = file;
  /** Random, so that nothing of a file is added twice. */
  const [key, setKey] = useState('');
  const [use, setUse] = useState<ImportUse>(() => likelyUse(resource, []));
  const [refusal, setRefusal] = useState<string>();
  const run = useRun(resource);
  const { state, progress, attempt, isCheck, isActive, mayResume } = run;
  const isUpdate = use.match !== undefined;
  const isUnfinished = !isCheck && (isActive || mayResume);

  const choose = async (one: File) => {
    const format = formatOfFile(one);
    const isKnown = format !== undefined && formats.includes(format);
    setRefusal(isKnown ? undefined : texts.wrongFormat(one.name, namesOf(formats)));
    if (!isKnown) return;
    const { records } = await file.choose(one, format);
    setUse(likelyUse(resource, records));
    setKey(randomKey());
  };
  const begin = ({ file: one, rows }: ChosenFile, isCheck: boolean) => {
    file.remember();
    run.begin({ file: one, use, isCheck, key, rows });
  };

  if (!api.mayWrite(resource) || formats.length === 0)
    return (
      <>
        <h1>{texts.title(resource.title)}</h1>
        <Notice kind="error">{formats.length === 0 ? texts.none(resource.title) : texts.forbidden}</Notice>
      </>
    );
  const list = hashOfList(resource.name);
  return (
    <div class="import">
      <UnsavedGuard isDirty={isUnfinished} words={texts.leaving} />
      <Breadcrumb resource={resource} />
      <h1 ref={run.place} tabIndex={-1}>
        {texts.title(resource.title)}
      </h1>
      {!chosen && (
        <FileChooser
          formats={formats}
          isCsvOffered={formats.some(({ isCsv }) => isCsv)}
          template={{ name: `${resource.name}-template.csv`, columns: templateColumns(fields) }}
          onChoose={(one) => void choose(one)}
        />
      )}
      {refusal && !chosen && <Notice kind="error">{refusal}</Notice>}
      {chosen && (
        <>
          <p class="chosen-file">
            <strong>{chosen.file.name}</strong> ({TEXTS.exporting.size(chosen.file.size)})
          </p>
          <UseChooser
            {...{ resource, use }}
            isCsv={chosen.format.isCsv}
            isDisabled={isActive || isUnfinished}
            onChoose={(other) => {
              setUse(other);
              run.reset();
            }}
          />
        </>
      )}
      {chosen && state.step === 'ready' && (
        <ColumnsStep
          {...{ chosen, fields, isUpdate }}
          control={file.control}
          onCorrect={(written) => void file.correct(written)}
          onChange={(reading) => void file.change(reading)}
        />
      )}
      <RunStatus {...{ resource, run }} />
      {chosen && (
        <div class="actions">
          {(state.step === 'ready' ? !isUpdate : isCheck && state.step === 'done' && hasEffect(progress)) &&
            run.unsaved === undefined && (
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
          {chosen.rows && isCheck && !isActive && <Button onClick={run.reset}>{texts.reading.change}</Button>}
          {!isActive && (
            <Button
              onClick={() => {
                file.forget();
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

function namesOf(formats: readonly Format[]): string {
  return formats.map(({ name, extensions }) => `${name} (${extensions.join(', ')})`).join(' or ');
}
