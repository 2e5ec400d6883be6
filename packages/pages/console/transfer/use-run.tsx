import type { ComponentChildren, JSX, RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { CatalogueError } from '#packages/client/index.js';
import { Button } from '../components/button.js';
import { ErrorNotice, Notice } from '../components/notice.js';
import { useConsole } from '../context.js';
import { numberText } from '../formats.js';
import { pauseFor } from '../pause.js';
import { randomKey } from '../random-key.js';
import type { Resource } from '../types.js';
import { changesOf, type ImportUse, isDone } from './file-changes.js';
import { type FindingWords, ImportFindings } from './import-findings.js';
import { ImportRun, type Progress, type RunOptions, type Send } from './import-run.js';
import { keyName, uniqueKey } from './import-use.js';
import { MOST_KEPT, RunHistory } from './run-history.js';
import { saveFile } from './save-file.js';

/** What is sent, and how it is used. */
export interface RunInput extends Pick<RunOptions, 'key' | 'rows' | 'onResult'> {
  readonly file: File;
  readonly use: ImportUse;
  /** Whether nothing is written. */
  readonly isCheck: boolean;
  /** Whether it takes back what another run did. */
  readonly isUndo?: boolean;
}

type State =
  | { readonly step: 'ready' | 'running' | 'done' }
  | { readonly step: 'waiting'; readonly seconds: number }
  /** By the person, if there is no error. */
  | { readonly step: 'stopped'; readonly error?: unknown };

/** A stream of records that is checked or written, from its start to its end. */
export interface Run {
  /** What gets the focus when a run begins or ends, which removes the button that had it. */
  readonly place: RefObject<(HTMLHeadingElement & HTMLDivElement) | null>;
  readonly state: State;
  readonly progress: Progress | undefined;
  /** What was begun last. */
  readonly attempt: { readonly run: ImportRun; readonly input: RunInput; readonly history: RunHistory } | undefined;
  readonly isCheck: boolean;
  readonly isActive: boolean;
  /** Whether it has stopped and can continue. */
  readonly mayResume: boolean;
  /** How many records the check would make different, if they are too many to be undone and their old values are not saved. */
  readonly unsaved: number | undefined;
  saveOldValues(): Promise<void>;
  begin(input: RunInput): void;
  resume(): void;
  stop(): void;
  /** Forgets what was begun. */
  reset(): void;
}

export function useRun(resource: Resource): Run {
  const { api, rememberUndo } = useConsole();
  const { form: fields } = resource;
  const [attempt, setAttempt] = useState<Run['attempt']>();
  const [state, setState] = useState<State>({ step: 'ready' });
  const [progress, setProgress] = useState<Progress>();
  const controller = useRef<AbortController | undefined>(undefined);
  const place = useRef<HTMLHeadingElement & HTMLDivElement>(null);
  const [savedOf, setSavedOf] = useState<RunHistory>();
  // A person who signs in again continues with the new key.
  const current = useRef(api);
  current.current = api;
  useEffect(() => () => controller.current?.abort(), []);

  /** Waits when the rate limit is used up. */
  const patiently = async (work: () => Promise<void>, signal: AbortSignal): Promise<void> => {
    setState({ step: 'running' });
    try {
      await work();
    } catch (error) {
      const { status, retryAfterSeconds: seconds } = Object(error) as Partial<CatalogueError>;
      if (signal.aborted || status !== 429 || seconds === undefined) throw error;
      setState({ step: 'waiting', seconds });
      await pauseFor(seconds * 1_000, signal);
      await patiently(work, signal);
    }
  };
  const start = async ({ run, input: { isCheck, isUndo }, history }: NonNullable<Run['attempt']>) => {
    const isKept = !isCheck && !isUndo && history.size <= MOST_KEPT;
    controller.current = new AbortController();
    const { signal } = controller.current;
    place.current?.focus();
    try {
      await patiently(async () => {
        if (isKept) await history.read(signal);
        await run.run(signal, setProgress);
      }, signal);
      setProgress(run.progress);
      setState({ step: 'done' });
    } catch (error) {
      setState(signal.aborted ? { step: 'stopped' } : { step: 'stopped', error });
    }
    const undo = isKept && (await history.undo());
    if (undo) rememberUndo({ resource, ...undo });
    place.current?.focus();
  };
  return {
    place,
    state,
    progress,
    attempt,
    isCheck: attempt?.input.isCheck ?? false,
    isActive: state.step === 'running' || state.step === 'waiting',
    mayResume: state.step === 'stopped' && mayContinue(state.error),
    unsaved:
      attempt && attempt.history.size > MOST_KEPT && attempt.history !== savedOf ? attempt.history.size : undefined,
    async saveOldValues() {
      if (!attempt) return;
      for (const file of await attempt.history.oldValues()) saveFile(file);
      setSavedOf(attempt.history);
    },
    begin(input) {
      const { file, use, isCheck, key, rows, onResult } = input;
      const { match, existing } = use;
      const how = { ...(match !== undefined && { match, existing }), ...(isCheck && { dryRun: true }) };
      const collection = () => current.current.collection(resource);
      const send: Send = (body, each) =>
        collection().importFile(rows ? 'text/csv' : 'application/x-ndjson', body, { ...how, ...each });
      const comparison = () => ({ collection: collection(), fields, use });
      const areDone: RunOptions['areDone'] = async (records, signal) =>
        (await changesOf(records, comparison(), signal)).map(isDone);
      // What a check has found counts for the run behind it.
      const isChecked = !isCheck && attempt?.input.isCheck && attempt.input.file === file;
      const history = isChecked ? attempt.history : new RunHistory(comparison, randomKey());
      const forRun = isCheck ? {} : match === undefined ? { key } : { areDone };
      const run = new ImportRun(file, send, {
        ...forRun,
        rows,
        onResult(finding) {
          if (isCheck) history.find(finding);
          else history.add(finding);
          onResult?.(finding);
        },
      });
      const next = { run, input, history };
      setProgress(undefined);
      setAttempt(next);
      void start(next);
    },
    resume: () => attempt && void start(attempt),
    stop: () => controller.current?.abort(),
    reset() {
      setAttempt(undefined);
      setProgress(undefined);
      setState({ step: 'ready' });
    },
  };
}

interface RunProps {
  readonly run: Run;
}

interface RunStatusProps extends RunProps {
  readonly resource: Resource;
}

/** How far a run is, why it waits or has stopped, and what came of it. */
export function RunStatus({ resource, run }: RunStatusProps): JSX.Element {
  const { importing: texts } = useConsole().texts;
  const { state, progress, isActive } = run;
  return (
    <>
      <RunTrouble run={run} />
      {state.step === 'done' && progress && <Outcome {...{ resource, run, progress }} />}
      {progress && (
        <>
          <RunProgress run={run} />
          <Counts {...{ run, progress }} />
        </>
      )}
      {!progress && isActive && <p>{texts.starting}</p>}
    </>
  );
}

/** Why a run waits or has stopped, and what comes before a run that cannot be undone. */
function RunTrouble({ run }: RunProps): JSX.Element {
  const { importing: texts, undo } = useConsole().texts;
  const { state, isCheck, mayResume, unsaved } = run;
  return (
    <>
      {state.step === 'stopped' && 'error' in state && <StoppedBy error={state.error} />}
      {mayResume && (
        <Notice>
          <p>{isCheck ? texts.checkStopped : texts.stopped}</p>
          <Button kind="primary" onClick={run.resume}>
            {texts.resume}
          </Button>
        </Notice>
      )}
      {state.step === 'waiting' && (
        <Notice>
          <p>{texts.waiting(state.seconds)}</p>
        </Notice>
      )}
      {state.step === 'done' && isCheck && unsaved !== undefined && (
        <Notice>
          <p>{undo.tooMany(numberText(unsaved), numberText(MOST_KEPT))}</p>
          <Button onClick={() => void run.saveOldValues()}>{undo.saveOldValues}</Button>
        </Notice>
      )}
    </>
  );
}

interface RunContentProps extends RunStatusProps, FindingWords {
  /** Whether another run follows. */
  readonly isContinued?: boolean;
  /** What comes first. */
  readonly children: ComponentChildren;
}

/** What a dialog shows of a run. */
export function RunContent({ resource, run, words, isContinued = false, children }: RunContentProps): JSX.Element {
  const isDone = run.state.step === 'done' && !isContinued;
  return (
    <div ref={run.place} tabIndex={-1} class="bulk-content">
      {children}
      <RunTrouble run={run} />
      {run.attempt && !isDone && <RunProgress run={run} />}
      {!isContinued && <RunFindings {...{ resource, run, words }} />}
    </div>
  );
}

/** The first records that a run changes, those that somebody else has changed, and those that are refused. */
export function RunFindings({ resource, run, words }: RunStatusProps & FindingWords): JSX.Element | null {
  const { attempt, progress, isActive, isCheck } = run;
  if (!attempt || !progress || isActive) return null;
  const { use } = attempt.input;
  return <ImportFindings {...{ resource, progress, isCheck, use, words }} findings={attempt.run.findings} />;
}

/** How far a run is. */
function RunProgress({ run: { progress, state } }: RunProps): JSX.Element {
  const { importing: texts } = useConsole().texts;
  const share = state.step === 'done' ? 1 : (progress?.share ?? 0);
  return (
    <p class="import-progress">
      <progress max={1} value={share} aria-label={texts.share} /> <span>{texts.percent(Math.floor(share * 100))}</span>
    </p>
  );
}

interface CountsProps extends RunProps {
  readonly progress: Progress;
}

/** What became of the records so far. */
function Counts({ run: { attempt, isCheck }, progress }: CountsProps): JSX.Element {
  const { importing: texts } = useConsole().texts;
  const { created, changed, unchanged, deleted, earlier, refused } = progress;
  const isUpdate = attempt?.input.use.match !== undefined;
  const updates: [string, number][] = [
    [texts.changed, changed],
    [texts.unchanged, unchanged],
    [texts.deleted, deleted],
  ];
  const counts: [string, number][] = [
    [isCheck ? texts.isNew : texts.created, created],
    ...(isUpdate ? updates : []),
    ...(earlier > 0 ? [[isUpdate ? texts.doneEarlier : texts.createdEarlier, earlier] satisfies [string, number]] : []),
    ...[...refused].map(([code, count]): [string, number] => [
      code === 'precondition_failed' ? texts.conflict : texts.refused(code),
      count,
    ]),
  ];
  return (
    <table class="import-counts">
      <caption>{isCheck ? texts.expected : texts.results}</caption>
      <tbody>
        {counts.map(([name, count]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{numberText(count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Why a run has stopped. */
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

/** What came of a run, or would come of it, in one sentence. */
function Outcome({ resource, run: { attempt, isCheck }, progress }: CountsProps & RunStatusProps): JSX.Element {
  const { importing: texts } = useConsole().texts;
  const isUpdate = attempt?.input.use.match !== undefined;
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
export function hasEffect(progress: Progress | undefined): boolean {
  return progress !== undefined && progress.created + progress.changed + progress.deleted > 0;
}

export function refusedIn(progress: Progress | undefined): number {
  return [...(progress?.refused.values() ?? [])].reduce((sum, count) => sum + count, 0);
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
