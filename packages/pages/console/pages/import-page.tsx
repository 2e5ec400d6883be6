import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { CatalogueError } from '#packages/client/index.js';
import { Button } from '../components/button.js';
import { ErrorNotice, Notice } from '../components/notice.js';
import { useConsole } from '../context.js';
import { formFields } from '../edit/form-model.js';
import { UnsavedGuard } from '../edit/unsaved.js';
import { randomKey } from '../random-key.js';
import { hashOf } from '../router.js';
import { changesOf, isDone } from '../transfer/file-changes.js';
import { FileChooser } from '../transfer/file-chooser.js';
import { type FormatDetails, formatOfFile, formatsOf } from '../transfer/formats.js';
import { ImportCounts, type ImportCountsProps } from '../transfer/import-counts.js';
import { ImportFindings } from '../transfer/import-findings.js';
import { ImportPreview, UntypedColumns } from '../transfer/import-preview.js';
import { ImportRun, type Progress, type RunOptions, runPatiently, type Send } from '../transfer/import-run.js';
import { comparisonOf, type ImportUse, keyName, likelyUse, UseChooser, uniqueKey } from '../transfer/import-use.js';
import { type PreviewRecord, previewOf } from '../transfer/preview.js';
import { saveFile } from '../transfer/save-file.js';
import type { Resource, ResourcePageProps } from '../types.js';

interface Chosen {
  readonly file: File;
  readonly format: FormatDetails;
  /** The first ones. */
  readonly records: readonly PreviewRecord[];
  /** Random, so that nothing of the file is added twice. */
  readonly key: string;
}

/** An import, or a check of what it would do. */
interface Attempt {
  readonly run: ImportRun;
  readonly isCheck: boolean;
}

type State =
  | { readonly step: 'ready' | 'running' | 'done' }
  | { readonly step: 'waiting'; readonly seconds: number }
  /** By the person, if there is no error. */
  | { readonly step: 'stopped'; readonly error?: unknown };

/** Imports a file, and shows what became of its records. */
export function ImportPage({ resource: described }: ResourcePageProps): JSX.Element {
  const { api, references, texts: all } = useConsole();
  // What an update and a check tell about records needs the scope that reads them.
  const resource = api.mayRead(described) ? described : { ...described, importMatches: [] };
  const texts = all.importing;
  const formats = formatsOf(resource.importTypes);
  const fields = useMemo(() => formFields(resource.input, references), [described]);
  const [chosen, setChosen] = useState<Chosen>();
  const [use, setUse] = useState<ImportUse>(() => likelyUse(resource, []));
  const [refusal, setRefusal] = useState<string>();
  const [attempt, setAttempt] = useState<Attempt>();
  const [state, setState] = useState<State>({ step: 'ready' });
  const [progress, setProgress] = useState<Progress>();
  const controller = useRef<AbortController | undefined>(undefined);
  const heading = useRef<HTMLHeadingElement>(null);
  // A person who signs in again continues with the new key.
  const current = useRef(api);
  current.current = api;
  const isUpdate = use.match !== undefined;
  const isCheck = attempt?.isCheck ?? false;
  const isActive = state.step === 'running' || state.step === 'waiting';
  const mayResume = state.step === 'stopped' && mayContinue(state.error);
  const isUnfinished = !isCheck && (isActive || mayResume);

  useEffect(() => () => controller.current?.abort(), []);

  const reset = () => {
    setAttempt(undefined);
    setProgress(undefined);
    setState({ step: 'ready' });
  };
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
  const start = async (run: ImportRun) => {
    controller.current = new AbortController();
    const { signal } = controller.current;
    setState({ step: 'running' });
    // The button that had the focus disappears.
    heading.current?.focus();
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
  const begin = ({ file, format, key }: Chosen, options: Pick<Attempt, 'isCheck'>) => {
    const { match, existing } = use;
    const how = { ...(match !== undefined && { match, existing }), ...(options.isCheck && { dryRun: true }) };
    const collection = () => current.current.collection(resource);
    const send: Send = (body, each) => collection().importFile(format.type, body, { ...how, ...each });
    const areDone: RunOptions['areDone'] = async (records, signal) =>
      (await changesOf(records, comparisonOf(collection(), fields, use), signal)).map(isDone);
    const forRun = options.isCheck ? {} : isUpdate ? { areDone } : { key };
    const run = new ImportRun(file, format.format, send, forRun);
    setProgress(undefined);
    setAttempt({ run, ...options });
    void start(run);
  };

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
              reset();
            }}
          />
        </>
      )}
      {chosen && state.step === 'ready' && (
        <ImportPreview {...{ resource, isUpdate }} records={chosen.records} format={chosen.format.format} />
      )}
      {chosen && (state.step === 'ready' || isCheck) && <UntypedColumns records={chosen.records} />}
      {state.step === 'stopped' && 'error' in state && <StoppedBy error={state.error} />}
      {mayResume && (
        <Notice>
          <p>{isCheck ? texts.checkStopped : texts.stopped}</p>
        </Notice>
      )}
      {state.step === 'waiting' && (
        <Notice>
          <p>{texts.waiting(state.seconds)}</p>
        </Notice>
      )}
      {state.step === 'done' && progress && <Outcome {...{ resource, progress, isUpdate, isCheck }} />}
      {progress && <ImportCounts {...{ progress, isUpdate, isCheck }} isDone={state.step === 'done'} />}
      {!progress && isActive && <p>{texts.starting}</p>}
      {chosen && (
        <div class="actions">
          {(state.step === 'ready' ? !isUpdate : isCheck && state.step === 'done' && hasEffect(progress)) && (
            <Button kind="primary" onClick={() => begin(chosen, { isCheck: false })}>
              {texts.start}
            </Button>
          )}
          {state.step === 'ready' && resource.importMatches.length > 0 && (
            <Button kind={isUpdate ? 'primary' : 'plain'} onClick={() => begin(chosen, { isCheck: true })}>
              {texts.check}
            </Button>
          )}
          {mayResume && attempt && (
            <Button kind="primary" onClick={() => void start(attempt.run)}>
              {texts.resume}
            </Button>
          )}
          {isActive && <Button onClick={() => controller.current?.abort()}>{texts.cancel}</Button>}
          {attempt && refusedIn(progress) > 0 && (
            <Button onClick={() => saveFile(attempt.run.refusedFile)}>{texts.download(refusedIn(progress))}</Button>
          )}
          {!isActive && (
            <Button
              onClick={() => {
                setChosen(undefined);
                reset();
              }}
            >
              {texts.another}
            </Button>
          )}
          {state.step === 'done' && !isCheck && <a href={list}>{texts.toList(resource.title)}</a>}
        </div>
      )}
      {attempt && progress && !isActive && (
        <ImportFindings {...{ resource, use, progress, isCheck }} findings={attempt.run.findings} />
      )}
    </div>
  );
}

/** Why an import or a check has stopped. */
function StoppedBy({ error }: { readonly error: unknown }): JSX.Element {
  const { importing: texts } = useConsole().texts;
  if (hasFileChanged(error))
    return (
      <Notice kind="error" title={texts.fileChangedTitle}>
        <p>{texts.fileChanged}</p>
      </Notice>
    );
  return <ErrorNotice error={error} title={isAboutHeader(error) ? texts.badHeader : undefined} />;
}

interface OutcomeProps extends Omit<ImportCountsProps, 'isDone'> {
  readonly resource: Resource;
}

/** What came of an import, or would come of it, in one sentence. */
function Outcome({ resource, progress, isUpdate, isCheck }: OutcomeProps): JSX.Element {
  const { importing: texts } = useConsole().texts;
  const { counted } = texts;
  const { created, changed, unchanged, deleted, earlier, refused } = progress;
  const unique = uniqueKey(resource);
  const updates: [number, string][] = [
    [changed, counted.changed],
    [unchanged, counted.unchanged],
    [deleted, counted.deleted],
    ...(earlier > 0 ? [[earlier, counted.earlier] satisfies [number, string]] : []),
  ];
  const counts: [number, string][] = [
    [isUpdate ? created : created + earlier, isCheck ? counted.isNew : counted.created],
    ...(isUpdate ? updates : []),
    [refusedIn(progress), counted.refused],
  ];
  const isGood = refused.size === 0 && !isCheck;
  return (
    <Notice kind={isGood ? 'success' : 'info'} title={isCheck ? texts.checkTitle : texts.doneTitle}>
      <p>{texts.outcome(counts)}</p>
      {isCheck && unchanged > 0 && !hasEffect(progress) && <p>{texts.noChange}</p>}
      {!isUpdate && unique && refused.has('duplicate_value') && <p>{texts.takenHint(keyName(unique))}</p>}
    </Notice>
  );
}

/** Whether a check has found anything to write. */
function hasEffect(progress: Progress | undefined): boolean {
  return progress !== undefined && progress.created + progress.changed + progress.deleted > 0;
}

/** Whether the browser refuses to read the file, because it is another than the one that was chosen. */
function hasFileChanged(error: unknown): boolean {
  return error instanceof DOMException && /^Not(Readable|Found)Error$/.test(error.name);
}

/** Whether the whole import was refused for the names of its columns. An invalid record is a result instead. */
function isAboutHeader(error: unknown): boolean {
  return error instanceof CatalogueError && error.code === 'validation_failed';
}

/** Whether the same request could succeed later, perhaps with another key. The others need another file. */
function mayContinue(error: unknown): boolean {
  if (hasFileChanged(error)) return false;
  if (!(error instanceof CatalogueError) || error.code === 'unexpected_response') return true;
  return error.status >= 500 || [401, 403, 408, 429].includes(error.status);
}

function refusedIn(progress: Progress | undefined): number {
  return [...(progress?.refused.values() ?? [])].reduce((sum, count) => sum + count, 0);
}

function namesOf(formats: readonly FormatDetails[]): string {
  return formats.map(({ name, extensions }) => `${name} (${extensions.join(', ')})`).join(' or ');
}

function hasCsv(formats: readonly FormatDetails[]): boolean {
  return formats.some(({ format }) => format === 'csv');
}
