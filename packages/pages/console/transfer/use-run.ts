import { useEffect, useRef, useState } from 'preact/hooks';
import { CatalogueError } from '#packages/client/index.js';
import { useConsole } from '../context.js';
import { hasFileChanged } from '../describe-error.js';
import { pauseFor } from '../pause.js';
import { randomKey } from '../random-key.js';
import type { Resource } from '../types.js';
import { changesOf, type ImportUse, isDone } from './file-changes.js';
import { saveFile } from './files.js';
import { ImportRun, type Progress, type RunOptions, type Send } from './import-run.js';
import { MOST_KEPT, RunHistory } from './run-history.js';

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

/** What was begun. */
interface Attempt {
  readonly run: ImportRun;
  readonly input: RunInput;
  readonly history: RunHistory;
}

export type Run = ReturnType<typeof useRun>;

/** A stream of records that is checked or written, from its start to its end. */
export function useRun(resource: Resource) {
  const { api, rememberUndo } = useConsole();
  const { form: fields } = resource;
  const [attempt, setAttempt] = useState<Attempt>();
  const [state, setState] = useState<State>({ step: 'ready' });
  const [progress, setProgress] = useState<Progress>();
  const controller = useRef<AbortController | undefined>(undefined);
  const place = useRef<HTMLDivElement>(null);
  const [savedOf, setSavedOf] = useState<RunHistory>();
  /** The credential of the last attempt. */
  const sentWith = useRef('');
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
  const start = async ({ run, input: { isCheck, isUndo }, history }: Attempt) => {
    const isKept = !isCheck && !isUndo && history.size <= MOST_KEPT;
    controller.current = new AbortController();
    const { signal } = controller.current;
    sentWith.current = current.current.credential;
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
  const hasOtherKey = attempt?.input.key !== undefined && sentWith.current !== api.credential;
  const doubtful = hasOtherKey && state.step === 'stopped' ? attempt.run.doubtful : undefined;
  const isUnsaved = attempt && attempt.history.size > MOST_KEPT && attempt.history !== savedOf;
  return {
    /** What gets the focus when a run begins or ends, which removes the button that had it. */
    place,
    state,
    progress,
    attempt,
    isCheck: attempt?.input.isCheck ?? false,
    isActive: state.step === 'running' || state.step === 'waiting',
    /** Whether it has stopped and can continue. */
    mayResume: state.step === 'stopped' && !doubtful && mayContinue(state.error),
    /**
     * The numbers of the records that may be created without a result, if the person has signed in with another key
     * since: idempotency keys belong to an API key, so nothing would tell them from new ones.
     */
    doubtful,
    /** How many records the check would make different, if they are too many to be undone and their old values not saved. */
    unsaved: isUnsaved ? attempt.history.size : undefined,
    async saveOldValues() {
      if (!attempt) return;
      for (const file of await attempt.history.oldValues()) saveFile(file);
      setSavedOf(attempt.history);
    },
    begin(input: RunInput) {
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
    /** Forgets what was begun. */
    reset() {
      setAttempt(undefined);
      setProgress(undefined);
      setState({ step: 'ready' });
    },
  };
}

/** Whether the same request could succeed later, perhaps with another key. The others need another file. */
function mayContinue(error: unknown): boolean {
  if (hasFileChanged(error)) return false;
  if (!(error instanceof CatalogueError) || error.code === 'unexpected_response') return true;
  return error.status >= 500 || [401, 403, 408, 429].includes(error.status);
}
