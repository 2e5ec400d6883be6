import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Breadcrumb } from '../components/breadcrumb.js';
import { Button } from '../components/button.js';
import { SecretDialog } from '../components/secret-dialog.js';
import { useConsole } from '../context.js';
import { UnsavedGuard } from '../edit/unsaved.js';
import { randomKey } from '../random-key.js';
import { TEXTS } from '../texts.js';
import type { CatalogueRecord, ResourcePageProps } from '../types.js';
import { WebhookForm, type WebhookInput } from './webhook-form.js';

const { webhooks: texts } = TEXTS;

const EMPTY: WebhookInput = { name: '', url: '', resources: [] };

/** Creates a webhook, and shows its secret once. */
export function NewWebhookPage({ resource }: ResourcePageProps): JSX.Element {
  const { api, navigate } = useConsole();
  const [input, setInput] = useState(EMPTY);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const [created, setCreated] = useState<CatalogueRecord>();
  const attempt = useRef({ body: '', idempotencyKey: '' });
  const create = async () => {
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    // A second press creates no second webhook if only the response of the first one was lost.
    const body = JSON.stringify(input);
    if (body !== attempt.current.body) attempt.current = { body, idempotencyKey: randomKey() };
    await api
      .collection(resource)
      .create({ ...input }, { idempotencyKey: attempt.current.idempotencyKey })
      .then(({ data }) => setCreated(data), setProblem);
    setBusy(false);
  };
  const done = ({ id }: CatalogueRecord) => navigate({ page: 'record', resource: resource.name, id }, 'replace');
  return (
    <>
      <Breadcrumb resource={resource} />
      <h1>{TEXTS.form.newTitle(resource.singular)}</h1>
      <WebhookForm
        {...{ resource, problem }}
        value={input}
        urlHint={texts.urlHint}
        resourcesHint={texts.resourcesHint}
        onChange={(changed) => setInput({ ...input, ...changed })}
        onSubmit={() => void create()}
      >
        <Button kind="primary" submit busy={isBusy}>
          {texts.create}
        </Button>
      </WebhookForm>
      <UnsavedGuard isDirty={!created && JSON.stringify(input) !== JSON.stringify(EMPTY)} />
      {created && (
        <SecretDialog
          title={texts.created}
          secret={created['secret']}
          text={texts.once}
          lost={texts.replayed}
          onClose={() => done(created)}
        />
      )}
    </>
  );
}
