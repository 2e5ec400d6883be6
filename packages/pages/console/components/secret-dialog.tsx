import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { copy } from '../../docs/clipboard.js';
import { TEXTS } from '../texts.js';
import type { CatalogueRecord, Resource } from '../types.js';
import { Button } from './button.js';
import { Dialog } from './dialog.js';

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
