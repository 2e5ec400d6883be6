import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Button } from '../components/button.js';
import { Field } from '../components/field.js';
import { ErrorNotice } from '../components/notice.js';
import { SecretDialog } from '../components/secret-dialog.js';
import { useConsole } from '../context.js';
import { messageAt } from '../describe-error.js';
import { instantOf } from '../formats.js';
import { randomKey } from '../random-key.js';
import { TEXTS } from '../texts.js';
import type { CatalogueRecord, ResourcePageProps } from '../types.js';

const { keys: texts } = TEXTS;

/** Creates an API key, and shows its secret once. */
export function NewKeyPage({ resource }: ResourcePageProps): JSX.Element {
  const { api, navigate } = useConsole();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly string[]>([]);
  const [expires, setExpires] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const [created, setCreated] = useState<CatalogueRecord>();
  const attempt = useRef({ body: '', idempotencyKey: '' });
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    const input = { name, scopes, ...(expires !== '' && { expiresAt: instantOf(expires) }) };
    // A second press creates no second key if only the response of the first one was lost.
    const body = JSON.stringify(input);
    if (body !== attempt.current.body) attempt.current = { body, idempotencyKey: randomKey() };
    await api
      .collection(resource)
      .create(input, { idempotencyKey: attempt.current.idempotencyKey })
      .then(({ data }) => setCreated(data), setProblem);
    setBusy(false);
  };
  const errorOf = (pointer: string) => messageAt(problem, pointer);
  const toggle = (scope: string) =>
    setScopes((all) => (all.includes(scope) ? all.filter((one) => one !== scope) : [...all, scope]));
  const done = () => navigate({ page: 'list', resource: resource.name, query: new URLSearchParams() });
  return (
    <>
      <h1>{texts.new}</h1>
      <form class="narrow" noValidate onSubmit={(event) => void submit(event)}>
        {problem !== undefined && <ErrorNotice error={problem} />}
        <Field label={texts.name} hint={texts.nameHint} error={errorOf('/name')} isRequired>
          {(control) => (
            <input {...control} value={name} onInput={({ currentTarget }) => setName(currentTarget.value)} />
          )}
        </Field>
        <fieldset class="checks" aria-describedby="scopes-note">
          <legend>{texts.scopes} *</legend>
          {api.permissions.scopes.map((scope) => (
            <label key={scope}>
              <input type="checkbox" checked={scopes.includes(scope)} onChange={() => toggle(scope)} /> {scope}
            </label>
          ))}
          <p id="scopes-note" class={errorOf('/scopes') ? 'field-error' : 'hint'}>
            {errorOf('/scopes') ?? texts.scopesHint}
          </p>
        </fieldset>
        <Field label={texts.expires} hint={texts.expiresHint} error={errorOf('/expiresAt')}>
          {(control) => (
            <input
              {...control}
              type="datetime-local"
              value={expires}
              onChange={({ currentTarget }) => setExpires(currentTarget.value)}
            />
          )}
        </Field>
        <div class="actions">
          <Button kind="primary" submit busy={isBusy}>
            {texts.create}
          </Button>
          <Button onClick={done}>{texts.cancel}</Button>
        </div>
      </form>
      {created && (
        <SecretDialog
          title={texts.created}
          secret={created['key']}
          text={texts.once}
          lost={texts.replayed}
          onClose={done}
        />
      )}
    </>
  );
}
