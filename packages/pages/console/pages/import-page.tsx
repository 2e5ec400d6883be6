import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { CatalogueError } from '#packages/client/index.js';
import { Button } from '../components/button.js';
import { ErrorNotice, Notice } from '../components/notice.js';
import { useConsole } from '../context.js';
import { UnsavedGuard } from '../edit/unsaved.js';
import { randomKey } from '../random-key.js';
import { hashOf } from '../router.js';
import { FileChooser } from '../transfer/file-chooser.js';
import { type FormatDetails, formatOfFile, formatsOf } from '../transfer/formats.js';
import { ImportCounts } from '../transfer/import-counts.js';
import { ImportPreview } from '../transfer/import-preview.js';
import { ImportRun, type Progress } from '../transfer/import-run.js';
import type { Format } from '../transfer/records-in-file.js';
import { saveFile } from '../transfer/save-file.js';
import type { Api, Resource, ResourcePageProps } from '../types.js';

interface Chosen {
  readonly file: File;
  readonly format: Format;
  readonly run: ImportRun;
}

type State =
  | { readonly step: 'ready' | 'running' | 'done' }
  | { readonly step: 'waiting'; readonly seconds: number }
  /** By the person, if there is no error. */
  | { readonly step: 'stopped'; readonly error?: unknown };

/** Imports a file, and shows what became of its records. */
export function ImportPage({ resource }: ResourcePageProps): JSX.Element {
  const { api, texts } = useConsole();
  const formats = formatsOf(resource.importTypes);
  const [chosen, setChosen] = useState<Chosen>();
  const [refusal, setRefusal] = useState<string>();
  const [state, setState] = useState<State>({ step: 'ready' });
  const [progress, setProgress] = useState<Progress>();
  const controller = useRef<AbortController | undefined>(undefined);
  const heading = useRef<HTMLHeadingElement>(null);
  // A person who signs in again continues with the new key.
  const current = useRef(api);
  current.current = api;
  const isActive = state.step === 'running' || state.step === 'waiting';
  const isUnfinished = isActive || (state.step === 'stopped' && mayContinue(state.error));

  useEffect(() => () => controller.current?.abort(), []);

  const choose = (file: File) => {
    const format = formatOfFile(file);
    const isKnown = format !== undefined && formats.includes(format);
    setRefusal(isKnown ? undefined : texts.importing.wrongFormat(file.name, namesOf(formats)));
    setState({ step: 'ready' });
    setProgress(undefined);
    setChosen(
      isKnown ? { file, format: format.format, run: runOf(file, format, resource, current) } : undefined,
    );
  };
  const start = async (run: ImportRun) => {
    controller.current = new AbortController();
    const { signal } = controller.current;
    try {
      await runPatiently(run, signal, setProgress, (seconds) =>
        setState(seconds === undefined ? { step: 'running' } : { step: 'waiting', seconds }),
      );
      setProgress(run.progress);
      setState({ step: 'done' });
    } catch (error) {
      setState(signal.aborted ? { step: 'stopped' } : { step: 'stopped', error });
    }
    heading.current?.focus();
  };
  const reset = () => {
    setChosen(undefined);
    setProgress(undefined);
    setState({ step: 'ready' });
  };

  if (!api.mayWrite(resource) || formats.length === 0)
    return (
      <>
        <h1>{texts.importing.title(resource.title)}</h1>
        <Notice kind="error">
          <p>{formats.length === 0 ? texts.importing.none(resource.title) : texts.importing.forbidden}</p>
        </Notice>
      </>
    );
  const list = hashOf({ page: 'list', resource: resource.name, query: new URLSearchParams() });
  return (
    <div class="import">
      <UnsavedGuard isDirty={isUnfinished} words={texts.importing.leaving} />
      <p>
        <a href={list}>{resource.title}</a>
      </p>
      <h1 ref={heading} tabIndex={-1}>
        {texts.importing.title(resource.title)}
      </h1>
      {!chosen && <FileChooser formats={formats} isCsvOffered={hasCsv(formats)} onChoose={choose} />}
      {refusal && !chosen && (
        <Notice kind="error">
          <p>{refusal}</p>
        </Notice>
      )}
      {chosen && (
        <p class="chosen-file">
          <strong>{chosen.file.name}</strong> ({texts.exporting.size(chosen.file.size)})
        </p>
      )}
      {chosen && state.step === 'ready' && <ImportPreview resource={resource} {...chosen} />}
      {state.step === 'stopped' && 'error' in state && (
        <ErrorNotice
          error={state.error}
          title={isAboutHeader(state.error) ? texts.importing.badHeader : undefined}
        />
      )}
      {state.step === 'stopped' && mayContinue(state.error) && (
        <Notice>
          <p>{texts.importing.stopped}</p>
        </Notice>
      )}
      {state.step === 'waiting' && (
        <Notice>
          <p>{texts.importing.waiting(state.seconds)}</p>
        </Notice>
      )}
      {state.step === 'done' && progress && (
        <Notice kind={progress.refused.size > 0 ? 'info' : 'success'} title={texts.importing.doneTitle}>
          <p>{texts.importing.done(progress.created + progress.existing, refusedIn(progress))}</p>
        </Notice>
      )}
      {progress && <ImportCounts progress={progress} isDone={state.step === 'done'} />}
      {chosen && !progress && isActive && <p>{texts.importing.starting}</p>}
      {chosen && (
        <div class="actions">
          {state.step === 'ready' && (
            <Button kind="primary" onClick={() => begin(chosen.run)}>
              {texts.importing.start}
            </Button>
          )}
          {state.step === 'stopped' && mayContinue(state.error) && (
            <Button kind="primary" onClick={() => begin(chosen.run)}>
              {texts.importing.resume}
            </Button>
          )}
          {isActive && <Button onClick={() => controller.current?.abort()}>{texts.importing.cancel}</Button>}
          {progress && refusedIn(progress) > 0 && (
            <Button onClick={() => saveFile(chosen.run.refusedFile)}>
              {texts.importing.download(refusedIn(progress))}
            </Button>
          )}
          {!isActive && <Button onClick={reset}>{texts.importing.another}</Button>}
          {state.step === 'done' && <a href={list}>{texts.importing.toList(resource.title)}</a>}
        </div>
      )}
    </div>
  );

  function begin(run: ImportRun): void {
    setState({ step: 'running' });
    // The button that had the focus disappears.
    heading.current?.focus();
    void start(run);
  }
}

/** Makes the import of a file, with a new random key. */
function runOf(
  file: File,
  { format, type }: FormatDetails,
  resource: Resource,
  api: { readonly current: Api },
): ImportRun {
  return new ImportRun(file, format, randomKey(), (body, options) =>
    api.current.collection(resource).importFile(type, body, options),
  );
}

/**
 * Runs an import, and waits when the rate limit is used up.
 * @param onWait called with the seconds of a wait, and with undefined after it
 */
async function runPatiently(
  run: ImportRun,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
  onWait: (seconds: number | undefined) => void,
): Promise<void> {
  for (;;) {
    try {
      return await run.run(signal, onProgress);
    } catch (error) {
      const seconds = error instanceof CatalogueError ? error.retryAfterSeconds : undefined;
      if (
        signal.aborted ||
        !(error instanceof CatalogueError) ||
        error.status !== 429 ||
        seconds === undefined
      )
        throw error;
      onWait(seconds);
      await sleep(seconds * 1_000, signal);
      onWait(undefined);
    }
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** Whether the whole import was refused for the names of its columns. An invalid record is a result instead. */
function isAboutHeader(error: unknown): boolean {
  return error instanceof CatalogueError && error.code === 'validation_failed';
}

/** Whether the same request could succeed later, perhaps with another key. The others need another file. */
function mayContinue(error: unknown): boolean {
  if (!(error instanceof CatalogueError) || error.code === 'unexpected_response') return true;
  return error.status >= 500 || [401, 403, 408, 429].includes(error.status);
}

function refusedIn({ refused }: Progress): number {
  return [...refused.values()].reduce((sum, count) => sum + count, 0);
}

function namesOf(formats: readonly FormatDetails[]): string {
  return formats.map(({ name, extensions }) => `${name} (${extensions.join(', ')})`).join(' or ');
}

function hasCsv(formats: readonly FormatDetails[]): boolean {
  return formats.some(({ format }) => format === 'csv');
}
