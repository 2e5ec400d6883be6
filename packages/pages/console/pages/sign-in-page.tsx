import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { CatalogueError } from '#packages/client/index.js';
import { survivesReload } from '../../docs/tab-storage.js';
import { Button } from '../components/button.js';
import { Field } from '../components/field.js';
import { ErrorNotice, Notice } from '../components/notice.js';
import { keyIn, SENDABLE } from '../session.js';
import { TEXTS } from '../texts.js';
import { useAction } from '../use-load.js';

const { session: texts, errors } = TEXTS;

interface SignInPageProps {
  signIn(key: string): Promise<void>;
}

/** The form for the key. What was typed stays until the service accepts it. */
export function SignInPage({ signIn }: SignInPageProps): JSX.Element {
  const [text, setText] = useState('');
  const [isShown, setShown] = useState(false);
  const { run, isBusy, problem } = useAction(() => {
    const key = keyIn(text);
    return SENDABLE.test(key) ? signIn(key) : Promise.reject(new UnusableKey(key));
  });
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const submit = (event: Event) => {
    event.preventDefault();
    run();
  };
  const unusable = problem instanceof UnusableKey ? problem.message : undefined;
  const isWrong = problem instanceof CatalogueError && problem.status === 401;
  return (
    <form class="sign-in" noValidate onSubmit={submit}>
      {isWrong && (
        <Notice kind="error" title={errors.wrongKey.title}>
          {errors.wrongKey.text}
        </Notice>
      )}
      {problem !== undefined && !isWrong && unusable === undefined && <ErrorNotice error={problem} />}
      <Field label={texts.keyLabel} hint={survivesReload() ? texts.keyHint : texts.keyHintNoStorage} error={unusable}>
        {(control) => (
          <div class="with-button">
            <input
              {...control}
              ref={field}
              type="text"
              class={isShown ? 'key' : 'key masked'}
              autocapitalize="off"
              spellcheck={false}
              placeholder="pcs_…"
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
            <Button aria-pressed={isShown} onClick={() => setShown(!isShown)}>
              {texts.show}
            </Button>
          </div>
        )}
      </Field>
      <Button kind="primary" submit busy={isBusy}>
        {isBusy ? texts.checking : texts.signIn}
      </Button>
    </form>
  );
}

class UnusableKey extends Error {
  constructor(key: string) {
    super(key === '' ? texts.empty : texts.badCharacters);
  }
}
