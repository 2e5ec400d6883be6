import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { copy } from '../../docs/clipboard.js';
import { Breadcrumb } from '../components/breadcrumb.js';
import { Button } from '../components/button.js';
import { columnsOf } from '../components/column-menu.js';
import { SECRETS, SecretDialog } from '../components/dialog.js';
import { ErrorNotice, Notice, Since } from '../components/notice.js';
import { RecordsTable } from '../components/records-table.js';
import { Details, textLinks, Value } from '../components/value.js';
import { useConsole } from '../context.js';
import { recordName, useDeletions } from '../deletions.js';
import { codeOf } from '../describe-error.js';
import type { JsonObject } from '../edit/json.js';
import { type Found, RecordEditor } from '../edit/record-editor.js';
import { wordsOf } from '../field-words.js';
import { labelOf } from '../formats.js';
import { useNews } from '../live/use-news.js';
import { placeIn } from '../places.js';
import { hashOf, hashOfList, routeOf } from '../router.js';
import { TEXTS } from '../texts.js';
import type { CatalogueRecord, Field, RecordPageProps, Resource } from '../types.js';
import { useLoad } from '../use-load.js';

const { form: texts, deletion } = TEXTS;

/** A record: a form if the credential may write, and something to read otherwise. */
export function RecordPage({ resource, id }: RecordPageProps): JSX.Element {
  const { api, navigate, notify, deletions, follower } = useConsole();
  const collection = api.collection(resource);
  const loaded = useLoad<Found>(String(id), (signal) =>
    follower.begin(resource, signal).then(() => collection.read<never>(id, { noCache: true, signal })),
  );
  const [saved, setSaved] = useState<Found>();
  const found = saved ?? loaded.value;
  /** What somebody else made of the record since. */
  const [newest, setNewest] = useState<Found | 'deleted'>();
  const [isRenewed, setRenewed] = useState(false);
  const current = useRef(found);
  current.current = found;
  useNews(resource, loaded.value, async (news, signal) => {
    const last = news?.filter((one) => one.id === id).at(-1);
    if (news && !last) return;
    for (let before: Found | undefined; !signal.aborted; ) {
      before = current.current;
      const read = last?.deleted
        ? 'deleted'
        : await collection.read<never>(id, { noCache: true, signal }).catch(asDeleted);
      // While the record was read, the person may have saved it.
      if (before !== current.current) continue;
      if (!signal.aborted) setNewest(read);
      return;
    }
  });
  const isEditable = resource.canPatch && api.mayWrite(resource);
  const renew = (next: Found) => {
    setSaved(next);
    setRenewed(true);
  };
  useDeletions(deletions);
  const isWaiting = deletions.isWaiting(resource, id);
  const wasWaiting = useRef(isWaiting);
  useEffect(() => {
    // The record is either deleted now, or back.
    if (wasWaiting.current && !isWaiting) loaded.reload();
    wasWaiting.current = isWaiting;
  }, [isWaiting]);
  const name = found ? recordName(resource, found.data) : `${resource.singular} ${id}`;
  useEffect(() => {
    if (!isEditable && newest && newest !== 'deleted' && newest.etag !== found?.etag) renew(newest);
  }, [newest]);

  const hasUnsavedText = useRef(false);
  const remove = () => {
    if (!found) return;
    deletions.enqueue(resource, found.data, found.etag);
    // With unsaved text the page stays below the message: an undo shows the text again.
    if (!hasUnsavedText.current) navigate(routeOf(placeIn(resource.name).hash));
  };
  const finish = (next: Found) => {
    const isNew = next.id !== id;
    const text = isNew ? texts.created(resource.singular, next.id) : texts.saved(recordName(resource, next.data));
    notify({ kind: 'success', text });
    if (isNew) navigate({ page: 'record', resource: resource.name, id: next.id }, 'replace');
    else setSaved(next);
    setNewest(undefined);
    setRenewed(false);
  };
  const group = resource.fields.find((one) => one.meaning === 'variants' && found?.data[one.name] !== undefined);
  return (
    <>
      <Breadcrumb resource={resource} id={id} />
      <div class="heading">
        <div>
          <h1>{String(found?.data['name'] ?? `${labelOf(resource.singular)} ${id}`)}</h1>
          <p class="badges">
            {found &&
              resource.fields
                .filter((one) => one.schema.enum && found.data[one.name] !== undefined)
                .map((field) => <Value key={field.name} field={field} value={found.data[field.name]} />)}
          </p>
        </div>
        {found && isEditable && !isWaiting && (
          <div class="actions">
            {resource.canCreate && (
              <a class="button" href={hashOf({ page: 'new', resource: resource.name, from: id })}>
                {texts.duplicate}
              </a>
            )}
            {resource.canDelete && (
              <Button kind="danger" onClick={remove}>
                {deletion.button(resource.singular)}
              </Button>
            )}
          </div>
        )}
      </div>
      {loaded.error !== undefined && <ErrorNotice error={loaded.error} onRetry={loaded.reload} />}
      {isWaiting && <Notice>{deletion.stillThere(name)}</Notice>}
      {found && (
        <div hidden={isWaiting}>
          {isEditable ? (
            <RecordEditor
              {...{ resource, found, newest, isRenewed, dirty: hasUnsavedText }}
              onSaved={finish}
              onRenewed={renew}
            >
              <Facts resource={resource} found={found} />
            </RecordEditor>
          ) : (
            <>
              <Facts resource={resource} found={found} />
              <Details
                record={found.data}
                fields={resource.fields.filter(({ name }) => resource.input?.properties?.[name] !== undefined)}
                hrefOf={textLinks(resource)}
              />
              <Since text={newest === 'deleted' ? texts.goneTitle : isRenewed ? TEXTS.live.renewed : ''} />
            </>
          )}
          {group && <Variants {...{ resource, record: found.data, field: group }} />}
        </div>
      )}
    </>
  );
}

/** @throws any other error */
function asDeleted(error: unknown): 'deleted' {
  if (codeOf(error) === 'not_found') return 'deleted';
  throw error;
}

interface FactsProps {
  readonly resource: Resource;
  readonly found: Found;
}

/** What the service gave the record, a link to the records that refer to it, and its JSON. */
function Facts({ resource, found }: FactsProps) {
  const { api, resources } = useConsole();
  const [copied, setCopied] = useState('');
  const shown = useRef<HTMLPreElement>(null);
  // Another request, because only a read of all fields has the tag that a write needs.
  const facts = resource.fields.filter(({ name, isMetadata }) => name === 'id' || isMetadata);
  const fields = facts.map(({ name }) => name);
  const metadata = useLoad(found.etag, (signal) =>
    api.collection(resource).read(found.id, { fields, noCache: true, signal }),
  );
  const filter = `${resource.singular}Id`;
  const referring = resources.filter(
    (other) => api.mayRead(other) && other.filters.some(({ name }) => name === filter),
  );
  const json = JSON.stringify(found.data, null, 2);
  return (
    <div class="facts">
      {metadata.error !== undefined && <ErrorNotice error={metadata.error} onRetry={metadata.reload} />}
      <Details record={{ ...found.data, ...metadata.value?.data }} fields={facts} />
      {referring.map(({ name, title }) => (
        <p key={name}>
          <a href={hashOfList(name, { [filter]: String(found.id) })}>{texts.referring(title, resource.singular)}</a>
        </p>
      ))}
      <details>
        <summary>{texts.json}</summary>
        <Button onClick={async () => shown.current && setCopied(TEXTS.copied(await copy(json, shown.current)))}>
          {texts.copyJson}
        </Button>{' '}
        <span role="status">{copied}</span>
        <pre ref={shown}>{json}</pre>
      </details>
    </div>
  );
}

/** The most variants that the page of a record lists. A link leads to all. */
const MOST = 20;

interface VariantsProps {
  readonly resource: Resource;
  readonly record: CatalogueRecord;
  /** What the variants share. */
  readonly field: Field;
}

/** The other records that share the value of a field whose records are variants of one another. */
function Variants({ resource, record, field }: VariantsProps): JSX.Element | null {
  const { api } = useConsole();
  const value = String(record[field.name]);
  const columns = columnsOf(resource);
  const query = new URLSearchParams({
    [field.name]: value,
    fields: ['id', ...columns.map(({ name }) => name)].join(','),
    limit: String(MOST + 1),
  });
  const request = `${resource.path}?${query}`;
  const load = useLoad(request, (signal) => api.collection(resource).page(request, { signal }));
  const { value: page, error, reload } = load;
  const title = texts.variants(labelOf(field.name), value);
  const list = hashOfList(resource.name, { [field.name]: value });
  const others = (page?.records ?? []).filter(({ id }: CatalogueRecord) => id !== record.id);
  // Not before they are read, so that a product without variants shows nothing.
  if (error === undefined && others.length === 0) return null;
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {error !== undefined && <ErrorNotice error={error} onRetry={reload} />}
      {others.length > 0 && (
        <RecordsTable {...{ resource, title, columns, sort: '' }} records={others} hrefOf={textLinks(resource)} />
      )}
      {page?.next && (
        <p>
          <a href={list}>{texts.allVariants}</a>
        </p>
      )}
    </section>
  );
}

interface NewRecordPageProps {
  readonly resource: Resource;
  /** The record of which the new one starts as a copy. */
  readonly from: number | undefined;
}

/** The form of a new record, which may start as a copy of another one. */
export function NewRecordPage({ resource, from }: NewRecordPageProps): JSX.Element {
  const { api, navigate, notify } = useConsole();
  const [issued, setIssued] = useState<CatalogueRecord>();
  const { value, error, reload, isLoading } = useLoad(String(from), async (signal) =>
    from === undefined ? undefined : (await api.collection(resource).read<never>(from, { signal })).data,
  );
  const copied = value && Object.fromEntries(Object.entries(value).filter(([name]) => !wordsOf(name)?.isOwn));
  // Going back must not show an empty form again.
  const show = (id: number) => navigate({ page: 'record', resource: resource.name, id }, 'replace');
  return (
    <>
      <Breadcrumb resource={resource} />
      <h1>{texts.newTitle(resource.singular)}</h1>
      {value && <p class="note">{texts.copied(recordName(resource, value))}</p>}
      {error !== undefined && <ErrorNotice error={error} onRetry={reload} />}
      {!isLoading && error === undefined && (
        <RecordEditor
          {...{ resource, ...(copied && { draft: copied as unknown as JsonObject }) }}
          onSaved={({ id, data }) => {
            if (resource.name in SECRETS) return setIssued(data);
            notify({ kind: 'success', text: texts.created(resource.singular, id) });
            show(id);
          }}
        />
      )}
      {issued && <SecretDialog {...{ resource, record: issued }} onClose={() => show(issued.id)} />}
    </>
  );
}
