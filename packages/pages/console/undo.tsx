import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { remember, remembered } from '../docs/tab-storage.js';
import { Button } from './components/button.js';
import { Dialog } from './components/dialog.js';
import { Notice } from './components/notice.js';
import { type Console, useConsole } from './context.js';
import { UnsavedGuard } from './edit/unsaved.js';
import { numberText } from './formats.js';
import { UNDO } from './session.js';
import { TEXTS } from './texts.js';
import { type Progress, refusedIn } from './transfer/import-run.js';
import type { Undo } from './transfer/run-history.js';
import { RunView } from './transfer/run-view.js';
import { useRun } from './transfer/use-run.js';
import type { Resource } from './types.js';

const { undo: texts, bulk, form, importing } = TEXTS;

/** The most characters of an undo that the tab keeps over a reload: a tab has about five million. */
const MOST_CHARACTERS = 2_000_000;

/** How to undo the last file or bulk change of this tab, until the person signs out. */
export function useUndo(resources: readonly Resource[]): [Undo | undefined, Console['rememberUndo']] {
  const [undo, setUndo] = useState(() => storedUndo(resources));
  const newest = useRef(undo);
  const isSignedOut = useRef(false);
  const change = async (next: Undo | undefined) => {
    // A run tells what it has done only after the sign-out that ends it.
    if (isSignedOut.current) return;
    newest.current = next;
    setUndo(next);
    remember(UNDO, undefined);
    if (!next) return;
    const isNewest = () => newest.current === next;
    const isKept = await storeUndo(next, isNewest).catch(() => false);
    if (!isKept && isNewest()) setUndo({ ...next, isLostOnReload: true });
  };
  useEffect(
    () => () => {
      void change(undefined);
      isSignedOut.current = true;
    },
    [],
  );
  return [undo, (next) => void change(next)];
}

/** Keeps an undo for a reload, if it is not too long and still the newest. */
async function storeUndo({ resource, steps, ...counts }: Undo, isNewest: () => boolean): Promise<boolean> {
  if (steps.some(({ file }) => file.size > MOST_CHARACTERS)) return false;
  const texts = await Promise.all(steps.map(async ({ file, ...step }) => ({ ...step, text: await file.text() })));
  const kept = JSON.stringify({ ...counts, resource: resource.name, steps: texts });
  if (kept.length > MOST_CHARACTERS) return false;
  if (isNewest()) remember(UNDO, kept);
  return true;
}

function storedUndo(resources: readonly Resource[]): Undo | undefined {
  const { resource: name, steps, ...counts } = JSON.parse(remembered(UNDO) ?? '{}');
  const resource = resources.find((one) => one.name === name);
  const fileOf = ({ text, ...step }: { readonly text: string }) => ({ ...step, file: new File([text], 'undo.ndjson') });
  return resource && { ...counts, resource, steps: steps.map(fileOf) };
}

/** What the last file or bulk change of this tab did, with the button that takes it back. The shell shows it. */
export function UndoNotice(): JSX.Element | null {
  const { undo, rememberUndo } = useConsole();
  const [opened, setOpened] = useState<Undo>();
  return (
    <>
      {undo && (
        <section class="undo" aria-label={texts.button}>
          <Notice>
            <p>
              {texts.done(undo.resource.title, undo)} {undo.isLostOnReload && texts.lostOnReload}
            </p>
            <Button onClick={() => setOpened(undo)}>{texts.button}</Button>
            <Button kind="link" aria-label={texts.forget} onClick={() => rememberUndo(undefined)}>
              ×
            </Button>
          </Notice>
        </section>
      )}
      {opened && <UndoDialog undo={opened} onClose={() => setOpened(undefined)} />}
    </>
  );
}

function UndoDialog({ undo, onClose }: { readonly undo: Undo; onClose(): void }): JSX.Element {
  const { rememberUndo } = useConsole();
  const { resource, steps, changed, created, deleted } = undo;
  const run = useRun(resource);
  const [ended, setEnded] = useState<readonly Progress[]>([]);
  const { state, progress, attempt, isActive, mayResume } = run;
  const begin = (at: number) => {
    const step = steps[at];
    if (step) run.begin({ ...step, isCheck: false, isUndo: true });
  };
  useEffect(() => {
    if (state.step !== 'done' || !progress) return;
    setEnded([...ended, progress]);
    if (ended.length + 1 < steps.length) begin(ended.length + 1);
    else rememberUndo(undefined);
  }, [state.step, attempt]);
  const isDone = ended.length === steps.length;
  const undone = ended.reduce((sum, one) => sum + one.created + one.changed + one.deleted + one.earlier, 0);
  const refused = ended.reduce((sum, one) => sum + refusedIn(one), 0);
  const close = () => !isActive && onClose();
  return (
    <Dialog title={texts.title} onClose={close} isWide={refused > 0}>
      <UnsavedGuard isDirty={isActive || mayResume} words={texts.leaving} />
      <RunView {...{ resource, run }} words={texts.findings} isContinued={!isDone}>
        {!attempt && (
          <>
            {changed > 0 && <p>{texts.changed(numberText(changed))}</p>}
            {created > 0 && <p>{texts.created(numberText(created))}</p>}
            {deleted > 0 && <p>{texts.deleted(numberText(deleted))}</p>}
            <p>{texts.kept}</p>
          </>
        )}
        {isDone && (
          <Notice kind={refused > 0 ? 'info' : 'success'}>
            <p>{texts.outcome(numberText(undone), numberText(refused))}</p>
          </Notice>
        )}
      </RunView>
      <p class="actions">
        {isActive && <Button onClick={run.stop}>{importing.cancel}</Button>}
        {!isActive && <Button onClick={close}>{isDone ? bulk.close : form.cancel}</Button>}
        {!attempt && (
          <Button kind="primary" onClick={() => begin(0)}>
            {texts.button}
          </Button>
        )}
      </p>
    </Dialog>
  );
}
