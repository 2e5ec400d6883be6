import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { copy } from '../../docs/clipboard.js';
import { TEXTS } from '../texts.js';
import { Button } from './button.js';
import { Dialog } from './dialog.js';

const { secrets: texts } = TEXTS;

interface SecretDialogProps {
  readonly title: string;
  /** Absent if an earlier attempt made the secret and its response was lost. */
  readonly secret: unknown;
  /** What the secret is for. */
  readonly text: string;
  /** What to do if it was lost. */
  readonly lost: string;
  onClose(): void;
}

/** Shows a secret, which the service shows once. */
export function SecretDialog({ title, secret, text, lost, onClose }: SecretDialogProps): JSX.Element {
  const shown = useRef<HTMLElement>(null);
  const [result, setResult] = useState('');
  if (typeof secret !== 'string')
    return (
      <Dialog title={title} onClose={onClose}>
        <p>{lost}</p>
        <Button onClick={onClose}>{texts.done}</Button>
      </Dialog>
    );
  const copySecret = async () => {
    if (shown.current) setResult(TEXTS.copied(await copy(secret, shown.current)));
  };
  return (
    // Escape does not close it: the secret would be lost.
    <Dialog title={title} onClose={() => {}}>
      <p>{text}</p>
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
