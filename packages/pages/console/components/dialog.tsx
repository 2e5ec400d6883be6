import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { copy } from '../../docs/clipboard.js';
import { DIALOG_CHANGE } from '../live/use-news.js';
import { TEXTS } from '../texts.js';
import type { CatalogueRecord, Resource } from '../types.js';
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
    const tell = () => document.dispatchEvent(new Event(DIALOG_CHANGE));
    shown?.showModal();
    tell();
    return () => {
      shown?.close();
      tell();
      // A menu has closed meanwhile: its button stands for what was in it.
      const back = before?.closest('.menu-panel')?.previousElementSibling ?? before;
      if (back instanceof HTMLElement && back.isConnected) back.focus();
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

/** The members of new records that hold a secret, by resource. */
export const SECRETS = { 'api-keys': 'key', webhooks: 'secret' } as const;

interface SecretDialogProps {
  readonly resource: Resource;
  /** As the service made it. It has no secret if an earlier attempt made it and its response was lost. */
  readonly record: Partial<CatalogueRecord>;
  /** Whether only the secret is new. */
  readonly isRenewed?: boolean;
  onClose(): void;
}

/** Shows a secret, which the service shows once. */
export function SecretDialog({ resource, record, isRenewed, onClose }: SecretDialogProps): JSX.Element {
  const name = resource.name as keyof typeof SECRETS;
  const texts = { ...TEXTS.secrets, ...TEXTS.secrets.of[name] };
  const title = isRenewed ? texts.renewed : texts.created;
  const secret = record[SECRETS[name]];
  const shown = useRef<HTMLElement>(null);
  const [result, setResult] = useState('');
  if (typeof secret !== 'string')
    return (
      <Dialog title={title} onClose={onClose}>
        <p>{texts.replayed}</p>
        <Button onClick={onClose}>{texts.done}</Button>
      </Dialog>
    );
  const copySecret = async () => {
    if (shown.current) setResult(TEXTS.copied(await copy(secret, shown.current)));
  };
  return (
    // Escape does not close it: the secret would be lost.
    <Dialog title={title} onClose={() => {}}>
      <p>{texts.once}</p>
      <p class="secret">
        <code ref={shown}>{secret}</code>
      </p>
      <p role="status">{result}</p>
      <div class="actions">
        <Button kind="primary" onClick={() => void copySecret()}>
          {texts.copy}
        </Button>
        <Button onClick={onClose}>{texts.done}</Button>
      </div>
    </Dialog>
  );
}
