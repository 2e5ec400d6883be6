import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Button } from '../components/button.js';
import { Dialog } from '../components/dialog.js';
import { Choice, TextField, useNextFocus } from '../components/field.js';
import { ErrorNotice, Notice } from '../components/notice.js';
import { useConsole } from '../context.js';
import { CompletedResource } from '../edit/completions.js';
import { FieldControl } from '../edit/fields.js';
import { pointerTo } from '../edit/json.js';
import { UnsavedGuard } from '../edit/unsaved.js';
import { labelOf, numberText } from '../formats.js';
import type { Selection } from '../selection.js';
import { TEXTS } from '../texts.js';
import { reasonOf } from '../transfer/failed-records.js';
import { type Progress, refusedIn } from '../transfer/import-run.js';
import { RunView } from '../transfer/run-view.js';
import { useRun } from '../transfer/use-run.js';
import type { Resource } from '../types.js';
import { useAction } from '../use-load.js';
import {
  actionsOf,
  type BulkAction,
  type BulkChange,
  type ChangeProblem,
  editOf,
  newChange,
  patchOf,
} from './changes.js';
import { type Plan, planOf } from './plan.js';

const { bulk: texts, form, importing } = TEXTS;

interface BulkDialogProps {
  readonly resource: Resource;
  readonly selection: Selection;
  /** The filters and the search of the list. */
  readonly query: Readonly<Record<string, string>>;
  /** What the person chose first; undefined deletes. */
  readonly first: BulkAction | undefined;
  /** @param isDone whether something was written */
  onClose(isDone: boolean): void;
}

/** Changes or deletes the selected records: first it shows what would happen, then it does it. */
export function BulkDialog({ resource, selection, query, first, onClose }: BulkDialogProps): JSX.Element {
  const { api } = useConsole();
  const root = useRef<HTMLFormElement>(null);
  const focusNext = useNextFocus(root);
  const [changes, setChanges] = useState<readonly BulkChange[]>(first ? [newChange(first)] : []);
  /** Whether what the person typed was to be used, so that what is wrong with it is said. */
  const [isTried, setTried] = useState(false);
  const [plan, setPlan] = useState<Plan>();
  const run = useRun(resource);
  const told = useRef({ done: new Set<number>(), reasons: new Map<number, string>() });
  const { state, progress, isCheck, isActive, mayResume, attempt } = run;
  const isWritten = attempt !== undefined && !isCheck;
  const edits = changes.map((change) => ({ change, name: change.action.field.name, edit: editOf(change) }));
  const isBegun = (action: BulkAction) => changes.some((one) => keyOf(one.action) === keyOf(action));
  const others = actionsOf(resource).filter((action) => !isBegun(action));

  const begin = ({ file, ids }: Plan, isCheck: boolean) =>
    run.begin({
      file,
      use: { match: 'id', existing: 'merge' },
      isCheck,
      onResult({ number, result: { error, status } }) {
        const id = ids[number - 1] ?? 0;
        if (isCheck) return;
        if (error) told.current.reasons.set(id, status === 412 ? texts.changedSince : reasonOf(error));
        else told.current.done.add(id);
      },
    });
  const preview = useAction(async () => {
    setTried(true);
    const ready = edits.flatMap(({ name, edit }) => (typeof edit === 'function' ? [{ name, edit }] : []));
    if (ready.length < edits.length) return;
    const next = await planOf(
      api.collection(resource),
      { ids: selection.ids, query: selection.areAll ? query : undefined },
      [...new Set(ready.map(({ name }) => name))],
      (record, skip) => {
        if (!first) return { deleted: true };
        const patch = patchOf(record, ready, skip);
        return Object.keys(patch).length > 0 ? patch : undefined;
      },
    );
    setPlan(next);
    if (next.ids.length > 0) begin(next, true);
  });
  /** The link that is pressed goes with this. */
  const add = (action: BulkAction) => {
    setChanges([...changes, newChange(action)]);
    focusNext(`:scope > :nth-child(${changes.length + 1}) :is(input, select, textarea)`);
  };
  const close = () => {
    if (isActive && isWritten) return;
    if (isWritten) {
      const { done, reasons } = told.current;
      selection.replace(plan?.ids.filter((id) => !done.has(id)) ?? [], { reasons });
    }
    onClose(isWritten);
  };
  const name = (count: number) =>
    `${numberText(count)} ${count === 1 ? resource.singular : resource.title.toLowerCase()}`;
  const act = first ? texts.change : texts.delete;
  const effect = (progress?.changed ?? 0) + (progress?.deleted ?? 0);
  return (
    <Dialog
      title={act(name(selection.ids.size))}
      onClose={close}
      isWide={plan !== undefined && (!isWritten || refusedIn(progress) > 0)}
    >
      <UnsavedGuard isDirty={isWritten && (isActive || mayResume)} words={texts.leaving} />
      {!plan ? (
        <form
          ref={root}
          class="bulk-form"
          onSubmit={(event) => {
            event.preventDefault();
            preview.run();
          }}
        >
          {!first && <p>{texts.deleteHint}</p>}
          <CompletedResource.Provider value={resource}>
            {edits.map(({ change, edit }, at) => (
              <ChangeRow
                key={keyOf(change.action)}
                change={change}
                problem={isTried && typeof edit === 'object' ? edit : undefined}
                onChange={(next) => setChanges(changes.map((one, other) => (other === at ? next : one)))}
              />
            ))}
          </CompletedResource.Provider>
          {first && others.length > 0 && (
            <p class="actions">
              <span class="hint">{texts.also}</span>
              {others.map((action) => (
                <Button key={keyOf(action)} kind="link" onClick={() => add(action)}>
                  {actionName(action)}
                </Button>
              ))}
            </p>
          )}
          {preview.problem !== undefined && <ErrorNotice error={preview.problem} />}
          <p class="actions">
            <Button onClick={close}>{form.cancel}</Button>
            <Button kind="primary" submit busy={preview.isBusy}>
              {texts.preview}
            </Button>
          </p>
        </form>
      ) : (
        <>
          <RunView {...{ resource, run }} words={texts.findings}>
            {(state.step === 'done' || plan.ids.length === 0) && (
              <Summary {...{ plan, progress }} isCheck={!isWritten} isDeletion={!first} />
            )}
          </RunView>
          <p class="actions">
            {isActive && isWritten && <Button onClick={run.stop}>{importing.cancel}</Button>}
            {!isWritten && (
              <>
                <Button onClick={close}>{form.cancel}</Button>
                <Button
                  onClick={() => {
                    run.reset();
                    setPlan(undefined);
                  }}
                >
                  {texts.back}
                </Button>
              </>
            )}
            {!isWritten && state.step === 'done' && effect > 0 && run.unsaved === undefined && (
              <Button kind={first ? 'primary' : 'danger'} onClick={() => begin(plan, false)}>
                {act(name(effect))}
              </Button>
            )}
            {isWritten && !isActive && (
              <Button kind="primary" onClick={close}>
                {texts.close}
              </Button>
            )}
          </p>
        </>
      )}
    </Dialog>
  );
}

/** Tells actions apart. */
export function keyOf({ kind, field }: BulkAction): string {
  return `${kind} ${field.name}`;
}

/** What an action is called, such as "Add tags". */
export function actionName({ kind, field }: BulkAction): string {
  return texts.actions[kind](labelOf(field.name).toLowerCase());
}

interface ChangeRowProps {
  readonly change: BulkChange;
  readonly problem: ChangeProblem | undefined;
  onChange(change: BulkChange): void;
}

function ChangeRow({ change, problem, onChange }: ChangeRowProps): JSX.Element {
  const { action, value, isPercent } = change;
  const { kind, field } = action;
  const message = problem && (problem.code === 'missing' ? form.broken.required : form.problem(problem));
  const name = actionName(action);
  if (kind === 'price')
    return (
      <div class="form-row">
        <Choice
          label={name}
          value={isPercent ? 'percent' : 'amount'}
          options={[
            ['percent', texts.byPercent],
            ['amount', texts.toAmount],
          ]}
          onChoose={(how) => onChange({ ...change, isPercent: how === 'percent' })}
        />
        <TextField
          label={isPercent ? texts.percent : texts.amount}
          hint={isPercent ? texts.percentHint : texts.amountHint}
          error={message}
          inputMode="decimal"
          value={String(value)}
          onType={(typed) => onChange({ ...change, value: typed })}
        />
      </div>
    );
  const pointer = pointerTo(field.name);
  return (
    <fieldset class="bulk-change">
      <legend>{name}</legend>
      <FieldControl
        field={{ ...field, isRequired: false }}
        pointer={pointer}
        value={value}
        messages={new Map(message === undefined ? [] : [[pointer, message]])}
        onChange={(next) => onChange({ ...change, value: next })}
      />
    </fieldset>
  );
}

interface SummaryProps {
  readonly plan: Plan;
  readonly progress: Progress | undefined;
  readonly isCheck: boolean;
  readonly isDeletion: boolean;
}

/** What would happen or what has happened to all selected records, each counted once or as skipped. */
function Summary({ plan, progress, isCheck, isDeletion }: SummaryProps): JSX.Element {
  const { unchanged, skipped, gone } = plan;
  const { changed = 0, deleted = 0, earlier = 0 } = progress ?? {};
  const refused = refusedIn(progress);
  const counts: [number, (count: string) => string][] = [
    [refused, isCheck ? texts.wouldBeRefused : texts.refused],
    [unchanged, texts.unchanged],
    [skipped.get('noPrice') ?? 0, texts.noPrice],
    [skipped.get('otherCurrency') ?? 0, texts.otherCurrency],
    [gone, texts.gone],
  ];
  const title = (isCheck ? texts.would : texts.was)(numberText(changed + deleted + earlier), isDeletion);
  return (
    <Notice kind={!isCheck && refused === 0 ? 'success' : 'info'} title={title}>
      {counts.map(([count, text]) => count > 0 && <p key={text(String(count))}>{text(numberText(count))}</p>)}
    </Notice>
  );
}
