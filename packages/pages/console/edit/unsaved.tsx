import type { JSX, RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../components/button.js';
import { Dialog } from '../components/dialog.js';
import { TEXTS } from '../texts.js';

let guard: ((event: HashChangeEvent) => void) | undefined;

// The window calls its listeners in the order in which they were added. This one is older than the router's, which is
// added by the first page, so it can stop the event before the router sees it.
addEventListener('hashchange', (event) => guard?.(event));

/** Lets Ctrl+S, on a Mac ⌘S, save a form that is shown. */
export function useSaveKey(form: RefObject<HTMLFormElement | null>): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== 's' || event.altKey || event.shiftKey || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      if (form.current?.checkVisibility() && !document.querySelector('dialog[open]')) form.current.requestSubmit();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

interface UnsavedGuardProps {
  readonly isDirty: boolean;
  /** Replaces the words about a form. */
  readonly words?: { readonly unsavedTitle: string; readonly unsaved: string };
}

/** Asks a person who leaves the page of a form whose text is not saved. */
export function UnsavedGuard({ isDirty, words }: UnsavedGuardProps): JSX.Element | null {
  const form = { ...TEXTS.form, ...words };
  const [leavingTo, setLeavingTo] = useState<string>();
  /** Current as soon as it is drawn: an effect could come after the navigation that follows a success. */
  const dirty = useRef(isDirty);
  dirty.current = isDirty;
  const isLeaving = useRef(false);
  useEffect(() => {
    const unload = (event: BeforeUnloadEvent) => {
      if (dirty.current) event.preventDefault();
    };
    guard = (event) => {
      if (!dirty.current || isLeaving.current) return;
      event.stopImmediatePropagation();
      history.pushState(null, '', event.oldURL);
      setLeavingTo(new URL(event.newURL).hash);
    };
    addEventListener('beforeunload', unload);
    return () => {
      removeEventListener('beforeunload', unload);
      guard = undefined;
    };
  }, []);
  if (leavingTo === undefined) return null;
  const stay = () => setLeavingTo(undefined);
  const leave = () => {
    isLeaving.current = true;
    stay();
    location.hash = leavingTo;
  };
  return (
    <Dialog title={form.unsavedTitle} onClose={stay}>
      <p>{form.unsaved}</p>
      <p class="actions">
        <Button kind="primary" onClick={stay}>
          {form.stay}
        </Button>
        <Button kind="danger" onClick={leave}>
          {words ? form.stop : form.leave}
        </Button>
      </p>
    </Dialog>
  );
}
