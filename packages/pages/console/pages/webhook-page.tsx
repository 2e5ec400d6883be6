import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { dataOf } from '../api.js';
import { Breadcrumb } from '../components/breadcrumb.js';
import { Button } from '../components/button.js';
import { Question, SecretDialog } from '../components/dialog.js';
import { FramedTable } from '../components/framed-table.js';
import { ErrorNotice, Notice } from '../components/notice.js';
import { Details } from '../components/value.js';
import { useConsole } from '../context.js';
import { type Found, RecordEditor } from '../edit/record-editor.js';
import { numberText, timeText } from '../formats.js';
import { hashOfList, routeOf } from '../router.js';
import { TEXTS } from '../texts.js';
import type { CatalogueRecord, RecordPageProps, Resource } from '../types.js';
import { useAction, useLoad } from '../use-load.js';

const { webhooks: texts } = TEXTS;

/** A try to send a message, as the service shows it. */
interface Attempt {
  readonly at: string;
  readonly type: string;
  readonly changes: number;
  readonly status?: number;
  readonly error?: string;
}

/** A webhook: what it reports to whom, its last deliveries, and everything that can be done with it. */
export function WebhookPage({ resource, id }: RecordPageProps): JSX.Element {
  const { api } = useConsole();
  const { value, error, isLoading, reload } = useLoad(String(id), async (signal) => {
    const [read, attempts] = await Promise.all([
      api.collection(resource).read<never>(id, { noCache: true, signal }),
      dataOf(api.catalogue.GET('/v1/webhooks/{id}/deliveries', { params: { path: { id } }, signal })),
    ]);
    return { read, attempts: attempts as readonly Attempt[] };
  });
  return (
    <>
      <Breadcrumb resource={resource} />
      {!value && <h1>{resource.title}</h1>}
      {error !== undefined && <ErrorNotice error={error} onRetry={reload} />}
      {value ? (
        <Webhook {...{ resource, ...value, isLoading, reload }} />
      ) : (
        isLoading && <p class="note">{TEXTS.list.loading}</p>
      )}
    </>
  );
}

interface WebhookProps {
  readonly resource: Resource;
  readonly read: Found;
  readonly attempts: readonly Attempt[];
  readonly isLoading: boolean;
  reload(): void;
}

function Webhook({ resource, read, attempts, isLoading, reload }: WebhookProps): JSX.Element {
  const { api, navigate, notify } = useConsole();
  const { POST } = api.catalogue;
  const collection = api.collection(resource);
  /** What came of saving after it was read. */
  const [saved, setSaved] = useState<readonly [read: Found, saved: Found]>();
  const found = saved?.[0] === read ? saved[1] : read;
  const path = { id: found.id };
  const name = String(found.data['name']);
  const isPaused = found.data['status'] === 'paused';
  const [outcome, setOutcome] = useState<{ readonly kind: 'success' | 'error'; readonly text: string }>();
  const [asking, setAsking] = useState<'secret' | 'delete'>();
  const [issued, setIssued] = useState<Partial<CatalogueRecord>>();
  /** What is done changes what the page shows, also if it fails. */
  const useStep = (step: () => Promise<void>) =>
    useAction(() => {
      setOutcome(undefined);
      return step().finally(reload);
    });
  const test = useStep(async () => {
    const attempt = await dataOf(POST('/v1/webhooks/{id}/deliveries', { params: { path } }));
    const kind = isTaken(attempt) ? 'success' : 'error';
    setOutcome({ kind, text: texts.tested(isTaken(attempt), outcomeOf(attempt)) });
  });
  const pause = useStep(async () => {
    await collection.patch(found, { status: isPaused ? 'active' : 'paused' });
    setOutcome({ kind: 'success', text: isPaused ? texts.resumed : texts.pausedNow });
  });
  const problem = test.problem ?? pause.problem;
  const save = (next: Found) => {
    setSaved([read, next]);
    if ('secret' in next.data) setIssued(next.data);
    setOutcome({ kind: 'success', text: TEXTS.form.saved(`“${next.data['name']}”`) });
    reload();
  };
  const close = () => {
    setAsking(undefined);
    reload();
  };
  const renew = async () => {
    const params = { path, header: { 'If-Match': found.etag } };
    setIssued(await dataOf(POST('/v1/webhooks/{id}/secret', { params })));
    close();
  };
  const remove = async () => {
    await collection.delete(found);
    notify({ kind: 'success', text: texts.deleted(name) });
    navigate(routeOf(hashOfList(resource.name)));
  };
  const facts = resource.fields.filter((one) => !one.isMetadata && !NO_FACTS.includes(one.name));
  const reason = found.data['lastError'];
  return (
    <>
      <div class="heading">
        <h1>{name}</h1>
        <div class="actions">
          <Button busy={test.isBusy} onClick={test.run}>
            {test.isBusy ? texts.testing : texts.test}
          </Button>
          <Button busy={isLoading} onClick={reload}>
            {texts.refresh}
          </Button>
          <Button busy={pause.isBusy} onClick={pause.run}>
            {isPaused ? texts.resume : texts.pause}
          </Button>
          <Button kind="danger" onClick={() => setAsking('delete')}>
            {texts.delete}
          </Button>
        </div>
      </div>
      {problem !== undefined && <ErrorNotice error={problem} />}
      {outcome && <Notice kind={outcome.kind}>{outcome.text}</Notice>}
      {reason !== undefined && outcome?.kind !== 'error' && (
        <Notice kind="error" title={isPaused ? texts.isPaused : texts.isFailing}>
          {String(reason)}
        </Notice>
      )}
      <Details record={found.data} fields={facts} />
      <Deliveries attempts={attempts} />
      <h2>{texts.settings}</h2>
      <RecordEditor {...{ resource, found, newest: found }} onSaved={save} />
      <h2>{texts.secret}</h2>
      <p>{texts.secretText}</p>
      <Button onClick={() => setAsking('secret')}>{texts.renew}</Button>
      {asking === 'secret' && (
        <Question title={texts.renewTitle} label={texts.renew} onAnswer={renew} onClose={close}>
          <p>{texts.renewText}</p>
        </Question>
      )}
      {asking === 'delete' && (
        <Question title={texts.deleteTitle(name)} label={texts.delete} onAnswer={remove} onClose={close}>
          <p>{texts.deleteText}</p>
        </Question>
      )}
      {issued && <SecretDialog {...{ resource, record: issued }} isRenewed onClose={() => setIssued(undefined)} />}
    </>
  );
}

/** What the form or a message shows. */
const NO_FACTS = ['name', 'url', 'resources', 'lastError'];

function isTaken({ status = 0 }: Attempt): boolean {
  return status >= 200 && status <= 299;
}

function outcomeOf({ status, error = '' }: Attempt): string {
  return status === undefined ? error : texts.responded(status);
}

function Deliveries({ attempts }: { readonly attempts: readonly Attempt[] }): JSX.Element {
  return (
    <FramedTable
      title={texts.deliveries}
      columns={[texts.at, texts.message, texts.changes, texts.outcome]}
      none={texts.noDeliveries}
    >
      {attempts.map((one) => (
        <tr key={`${one.at} ${one.type}`}>
          <th scope="row" data-label={texts.at}>
            <time dateTime={one.at} title={one.at}>
              {timeText(one.at)}
            </time>
          </th>
          <td data-label={texts.message}>
            <code>{one.type}</code>
          </td>
          <td data-label={texts.changes}>{numberText(one.changes)}</td>
          <td data-label={texts.outcome}>
            <span>
              <span class={`badge ${isTaken(one) ? 'active' : 'failing'}`}>
                {isTaken(one) ? texts.taken : texts.notTaken}
              </span>{' '}
              {outcomeOf(one)}
            </span>
          </td>
        </tr>
      ))}
    </FramedTable>
  );
}
