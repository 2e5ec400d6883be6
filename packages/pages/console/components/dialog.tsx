import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

export interface DialogProps {
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
