import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { TEXTS } from '../texts.js';
import { useAction } from '../use-load.js';
import { Button } from './button.js';
import { ErrorNotice } from './notice.js';

interface DialogProps {
  readonly title: string;
  /** Called by Escape. The parent then removes the dialog. */
  onClose(): void;
  readonly children: ComponentChildren;
  readonly isWide?: boolean;
}

/** A modal dialog. It keeps the focus, and gives it back when it is removed. */
export function Dialog({ title, onClose, children, isWide = false }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const before = document.activeElement;
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      shown?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const cancel = (event: Event) => {
    event.preventDefault();
    onClose();
  };
  return (
    <dialog ref={dialog} class={isWide ? 'wide' : ''} aria-labelledby={heading} onCancel={cancel}>
      <h2 id={heading}>{title}</h2>
      {children}
    </dialog>
  );
}

interface QuestionProps extends DialogProps {
  /** Of the button that does it. */
  readonly label: string;
  onAnswer(): Promise<void>;
}

/** A dialog that asks before something that cannot be undone, and says why that failed. */
export function Question({ title, label, children, onAnswer, onClose }: QuestionProps): JSX.Element {
  const { run, isBusy, problem } = useAction(onAnswer);
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {problem !== undefined && <ErrorNotice error={problem} />}
      <div class="actions">
        <Button onClick={onClose}>{TEXTS.form.cancel}</Button>
        <Button kind="danger" busy={isBusy} onClick={run}>
          {label}
        </Button>
      </div>
    </Dialog>
  );
}
