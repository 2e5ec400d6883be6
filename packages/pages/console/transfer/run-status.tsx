import type { ComponentChildren, JSX } from 'preact';
import { CatalogueError } from '#packages/client/index.js';
import { Button } from '../components/button.js';
import { ErrorNotice, Notice } from '../components/notice.js';
import { numberText } from '../formats.js';
import { TEXTS } from '../texts.js';
import type { Resource } from '../types.js';
import { RunFindings, type RunFindingsProps } from './import-findings.js';
import { hasEffect, type Progress, refusedIn } from './import-run.js';
import { keyName, uniqueKey } from './import-use.js';
import { MOST_KEPT } from './run-history.js';
import { hasFileChanged, type Run } from './use-run.js';

interface RunProps {
  readonly run: Run;
}

interface RunStatusProps extends RunProps {
  readonly resource: Resource;
}

/** How far a run is, why it waits or has stopped, and what came of it. */
export function RunStatus({ resource, run }: RunStatusProps): JSX.Element {
  const { importing: texts } = TEXTS;
  const { state, progress, isActive } = run;
  return (
    <>
      <RunTrouble run={run} />
      {state.step === 'done' && progress && <Outcome {...{ resource, run, progress }} />}
      {progress && state.step !== 'done' && <RunProgress run={run} />}
      {progress && (state.step !== 'done' || progress.refused.size + progress.earlier > 0) && (
        <Counts {...{ run, progress }} />
      )}
      {!progress && isActive && <p>{texts.starting}</p>}
    </>
  );
}

/** Why a run waits or has stopped, and what comes before a run that cannot be undone. */
function RunTrouble({ run }: RunProps): JSX.Element {
  const { importing: texts, undo } = TEXTS;
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

interface RunContentProps extends RunFindingsProps {
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

/** How far a run is. */
function RunProgress({ run: { progress, state } }: RunProps): JSX.Element {
  const { importing: texts } = TEXTS;
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
  const { importing: texts } = TEXTS;
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
  const { importing: texts } = TEXTS;
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
  const { importing: texts } = TEXTS;
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

/** Whether the whole import was refused for the names of its columns. An invalid record is a result instead. */
function isAboutHeader(error: unknown): boolean {
  return error instanceof CatalogueError && error.code === 'validation_failed';
}
