import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Snapshot } from '#packages/client/index.js';
import { errorFrom } from '../api.js';
import { Breadcrumb } from '../components/breadcrumb.js';
import { Button } from '../components/button.js';
import { ErrorNotice, Notice } from '../components/notice.js';
import { Question } from '../components/question.js';
import { SecretDialog } from '../components/secret-dialog.js';
import { Value } from '../components/value.js';
import { useConsole } from '../context.js';
import { isSame, member } from '../edit/json.js';
import { UnsavedGuard } from '../edit/unsaved.js';
import { labelOf, numberText, timeText } from '../formats.js';
import { hashOf } from '../router.js';
import { TEXTS } from '../texts.js';
import type { CatalogueRecord, RecordPageProps, Resource } from '../types.js';
import { useLoad } from '../use-load.js';
import { WebhookForm, type WebhookInput } from './webhook-form.js';

const { webhooks: texts } = TEXTS;

/** A try to send a message, as the service shows it. */
interface Attempt {
  readonly at: string;
  readonly type: string;
  readonly changes: number;
  readonly status?: number;
  readonly error?: string;
}

/** Whose record the owner of a webhook is. */
const KEYS = 'api-keys';

type Found = Snapshot<CatalogueRecord>;

/** What the last request of the page did. */
type Outcome =
  | { readonly kind: 'success' | 'error'; readonly text: string }
  | { readonly kind: 'failed'; readonly error: unknown };

/** A webhook: what it reports to whom, its last deliveries, and everything that can be done with it. */
export function WebhookPage({ resource, id }: RecordPageProps): JSX.Element {
  const { api, navigate, notify } = useConsole();
  const { POST, GET } = api.catalogue;
  const collection = api.collection(resource);
  const path = { id };
  const { value, error, isLoading, reload } = useLoad(String(id), async (signal) => {
    const [found, attempts] = await Promise.all([
      collection.read<never>(id, { noCache: true, signal }),
      GET('/v1/webhooks/{id}/deliveries', { params: { path }, signal }),
    ]);
    if (!attempts.data) throw errorFrom(attempts.response, attempts.error);
    return { found, attempts: attempts.data as readonly Attempt[] };
  });
  const [running, setRunning] = useState<string>();
  const [outcome, setOutcome] = useState<Outcome>();
  const [asking, setAsking] = useState<'secret' | 'delete'>();
  const [secret, setSecret] = useState<string>();
  /** One at a time. What it changed is read again, also after a failure. */
  const run = async (what: string, action: () => Promise<Outcome | undefined>) => {
    if (running !== undefined) return;
    setRunning(what);
    setOutcome(undefined);
    setOutcome(await action().catch((failure: unknown) => ({ kind: 'failed', error: failure }) as const));
    setRunning(undefined);
    setAsking(undefined);
    reload();
  };
  const patch = async (found: Found, changed: object): Promise<CatalogueRecord> => {
    const { data } = await collection.patch(found, { ...changed });
    if (typeof data['secret'] === 'string') setSecret(data['secret']);
    return data;
  };
  const test = async (): Promise<Outcome> => {
    const { data, error: refusal, response } = await POST('/v1/webhooks/{id}/deliveries', { params: { path } });
    if (!data) throw errorFrom(response, refusal);
    return { kind: isTaken(data) ? 'success' : 'error', text: texts.tested(isTaken(data), outcomeOf(data)) };
  };
  const pause = (found: Found, isPaused: boolean) => async (): Promise<Outcome> => {
    await patch(found, { status: isPaused ? 'paused' : 'active' });
    return { kind: 'success', text: isPaused ? texts.pausedNow : texts.resumed };
  };
  const renew =
    ({ etag }: Found) =>
    async () => {
      const params = { path, header: { 'If-Match': etag } };
      const { data, error: refusal, response } = await POST('/v1/webhooks/{id}/secret', { params });
      if (!data) throw errorFrom(response, refusal);
      setSecret(data.secret);
      return undefined;
    };
  const remove = (found: Found) => async () => {
    await collection.delete(found);
    notify({ kind: 'success', text: texts.deleted(nameOf(found)) });
    navigate({ page: 'list', resource: resource.name, query: new URLSearchParams() });
    return undefined;
  };
  if (!value)
    return (
      <>
        <Breadcrumb resource={resource} />
        <h1>{resource.title}</h1>
        {error !== undefined && <ErrorNotice error={error} onRetry={reload} />}
        {isLoading && <p class="note">{TEXTS.list.loading}</p>}
      </>
    );
  const { found, attempts } = value;
  const isPaused = found.data['status'] === 'paused';
  return (
    <>
      <Breadcrumb resource={resource} />
      <div class="heading">
        <h1>{nameOf(found)}</h1>
        <div class="actions">
          <Button busy={running === 'test'} onClick={() => void run('test', test)}>
            {running === 'test' ? texts.testing : texts.test}
          </Button>
          <Button busy={running === 'pause'} onClick={() => void run('pause', pause(found, !isPaused))}>
            {isPaused ? texts.resume : texts.pause}
          </Button>
          <Button kind="danger" onClick={() => setAsking('delete')}>
            {texts.delete}
          </Button>
        </div>
      </div>
      {error !== undefined && <ErrorNotice error={error} onRetry={reload} />}
      <OutcomeNotice outcome={outcome} />
      <Facts resource={resource} record={found.data} />
      <Deliveries attempts={attempts} isLoading={isLoading} reload={reload} />
      <h2>{texts.settings}</h2>
      <Settings
        resource={resource}
        found={found}
        onSave={async (changed) => {
          const { name } = await patch(found, changed).finally(reload);
          setOutcome({ kind: 'success', text: TEXTS.form.saved(`“${name}”`) });
        }}
      />
      <h2>{texts.secret}</h2>
      <p>{texts.secretText}</p>
      <Button onClick={() => setAsking('secret')}>{texts.renew}</Button>
      {asking === 'secret' && (
        <Question
          title={texts.renewTitle}
          label={texts.renew}
          isBusy={running === 'secret'}
          onAnswer={() => void run('secret', renew(found))}
          onClose={() => setAsking(undefined)}
        >
          <p>{texts.renewText}</p>
        </Question>
      )}
      {asking === 'delete' && (
        <Question
          title={texts.deleteTitle(nameOf(found))}
          label={texts.delete}
          isBusy={running === 'delete'}
          onAnswer={() => void run('delete', remove(found))}
          onClose={() => setAsking(undefined)}
        >
          <p>{texts.deleteText}</p>
        </Question>
      )}
      {secret !== undefined && (
        <SecretDialog
          title={texts.newSecret}
          secret={secret}
          text={texts.once}
          lost=""
          onClose={() => setSecret(undefined)}
        />
      )}
    </>
  );
}

function nameOf({ data }: Found): string {
  return String(data['name']);
}

function isTaken({ status = 0 }: Attempt): boolean {
  return status >= 200 && status <= 299;
}

function outcomeOf({ status, error = '' }: Attempt): string {
  return status === undefined ? error : texts.responded(status);
}

function OutcomeNotice({ outcome }: { readonly outcome: Outcome | undefined }): JSX.Element | null {
  if (!outcome) return null;
  if (outcome.kind === 'failed') return <ErrorNotice error={outcome.error} />;
  return (
    <Notice kind={outcome.kind}>
      <p>{outcome.text}</p>
    </Notice>
  );
}

interface FactsProps {
  readonly resource: Resource;
  readonly record: CatalogueRecord;
}

/** What the form does not show. */
function Facts({ resource, record }: FactsProps): JSX.Element {
  const { api } = useConsole();
  const shown = resource.fields.filter(
    ({ name, isMetadata }) => !isMetadata && !['name', 'url', 'resources', 'lastError'].includes(name),
  );
  const reason = record['lastError'];
  return (
    <>
      {reason !== undefined && (
        <Notice kind="error" title={record['status'] === 'paused' ? texts.isPaused : texts.isFailing}>
          <p>{String(reason)}</p>
        </Notice>
      )}
      <dl class="details">
        {shown.map((field) => (
          <div key={field.name}>
            <dt>{labelOf(field.name)}</dt>
            <dd>
              {field.name === 'createdBy' && api.permissions.mayRead.has(KEYS) ? (
                <a href={hashOf({ page: 'record', resource: KEYS, id: Number(record[field.name]) })}>
                  {texts.key(String(record[field.name]))}
                </a>
              ) : record[field.name] === undefined ? (
                texts.never
              ) : (
                <Value field={field} value={record[field.name]} isWhole />
              )}
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

interface DeliveriesProps {
  readonly attempts: readonly Attempt[];
  readonly isLoading: boolean;
  reload(): void;
}

function Deliveries({ attempts, isLoading, reload }: DeliveriesProps): JSX.Element {
  return (
    <section aria-labelledby="deliveries">
      <div class="heading section">
        <h2 id="deliveries">{texts.deliveries}</h2>
        <Button busy={isLoading} onClick={reload}>
          {texts.refresh}
        </Button>
      </div>
      {attempts.length === 0 && <p>{texts.noDeliveries}</p>}
      {attempts.length > 0 && (
        <div class="table-frame still">
          <table class="records" aria-busy={isLoading}>
            <caption class="hidden">{texts.deliveries}</caption>
            <thead>
              <tr>
                <th scope="col">{texts.at}</th>
                <th scope="col">{texts.message}</th>
                <th scope="col" class="number">
                  {texts.changes}
                </th>
                <th scope="col">{texts.outcome}</th>
              </tr>
            </thead>
            <tbody>
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
                  <td data-label={texts.changes} class="number">
                    {numberText(one.changes)}
                  </td>
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
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

interface SettingsProps {
  readonly resource: Resource;
  readonly found: Found;
  onSave(changed: Partial<WebhookInput>): Promise<void>;
}

/** The form keeps what the person typed, and shows the newest value of everything else. */
function Settings({ resource, found, onSave }: SettingsProps): JSX.Element {
  const [typed, setTyped] = useState<Partial<WebhookInput>>({});
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const record = found.data as unknown as WebhookInput;
  const changed = Object.fromEntries(
    Object.entries(typed).filter(([name, value]) => !isSame(value, member(found.data as never, name))),
  );
  const isDirty = Object.keys(changed).length > 0;
  const save = async () => {
    if (isBusy || !isDirty) return;
    setBusy(true);
    setProblem(undefined);
    await onSave(changed).then(() => setTyped({}), setProblem);
    setBusy(false);
  };
  return (
    <>
      <WebhookForm
        {...{ resource, problem }}
        value={{ ...record, ...typed }}
        urlHint={texts.otherUrlHint}
        resourcesHint={texts.ownerHint}
        onChange={(more) => setTyped({ ...typed, ...more })}
        onSubmit={() => void save()}
      >
        <Button kind="primary" submit busy={isBusy}>
          {isBusy ? TEXTS.form.saving : TEXTS.form.save}
        </Button>
        {isDirty && <Button onClick={() => setTyped({})}>{TEXTS.form.revert}</Button>}
        {isDirty && <span class="hint">{TEXTS.form.notSaved}</span>}
      </WebhookForm>
      <UnsavedGuard isDirty={isDirty} />
    </>
  );
}
