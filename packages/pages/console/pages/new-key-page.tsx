import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Breadcrumb } from '../components/breadcrumb.js';
import { Button } from '../components/button.js';
import { Field } from '../components/field.js';
import { SecretDialog } from '../components/secret-dialog.js';
import { useConsole } from '../context.js';
import { type Failed, failedOf, messagesOf, ProblemSummary } from '../edit/problems.js';
import { wordsOf } from '../field-words.js';
import { instantOf } from '../formats.js';
import { randomKey } from '../random-key.js';
import { TEXTS } from '../texts.js';
import type { CatalogueRecord, ResourcePageProps } from '../types.js';

const { keys: texts } = TEXTS;

/** Creates an API key, and shows its secret once. */
export function NewKeyPage({ resource }: ResourcePageProps): JSX.Element {
  const { api, navigate, references } = useConsole();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly string[]>([]);
  const [expires, setExpires] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [failed, setFailed] = useState<Failed>();
  const [created, setCreated] = useState<CatalogueRecord>();
  const attempt = useRef({ body: '', idempotencyKey: '' });
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setFailed(undefined);
    const input = { name, scopes, ...(expires !== '' && { expiresAt: instantOf(expires) }) };
    // A second press creates no second key if only the response of the first one was lost.
    const body = JSON.stringify(input);
    if (body !== attempt.current.body) attempt.current = { body, idempotencyKey: randomKey() };
    await api
      .collection(resource)
      .create(input, { idempotencyKey: attempt.current.idempotencyKey })
      .then(
        ({ data }) => setCreated(data),
        (error: unknown) => setFailed(failedOf(error, resource, references)),
      );
    setBusy(false);
  };
  const messages = messagesOf(failed?.problems ?? []);
  const toggle = (scope: string) =>
    setScopes((all) => (all.includes(scope) ? all.filter((one) => one !== scope) : [...all, scope]));
  const done = () => navigate({ page: 'list', resource: resource.name, query: new URLSearchParams() });
  return (
    <>
      <Breadcrumb resource={resource} />
      <h1>{texts.new}</h1>
      <form class="narrow form-section" noValidate onSubmit={(event) => void submit(event)}>
        {failed && <ProblemSummary failed={failed} />}
        <Field label={texts.name} hint={wordsOf('name', resource.name)?.help} error={messages.get('/name')} isRequired>
          {(control) => (
            <input
              {...control}
              data-pointer="/name"
              value={name}
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
          )}
        </Field>
        <fieldset class="checks" data-pointer="/scopes" tabIndex={-1} aria-describedby="scopes-note">
          <legend>{texts.scopes} *</legend>
          {api.permissions.scopes.map((scope) => (
            <label key={scope}>
              <input type="checkbox" checked={scopes.includes(scope)} onChange={() => toggle(scope)} />{' '}
              {texts.scopeWords[scope]} <code>{scope}</code>
            </label>
          ))}
          <p id="scopes-note" class={messages.get('/scopes') ? 'field-error' : 'hint'}>
            {messages.get('/scopes') ?? wordsOf('scopes')?.help}
          </p>
        </fieldset>
        <Field label={texts.expires} hint={wordsOf('expiresAt')?.help} error={messages.get('/expiresAt')}>
          {(control) => (
            <input
              {...control}
              data-pointer="/expiresAt"
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
