import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Breadcrumb } from '../components/breadcrumb.js';
import { SECRETS, SecretDialog } from '../components/dialog.js';
import { ErrorNotice } from '../components/notice.js';
import { useConsole } from '../context.js';
import { recordName } from '../deletions.js';
import type { JsonObject } from '../edit/json.js';
import { RecordEditor } from '../edit/record-editor.js';
import { wordsOf } from '../field-words.js';
import { TEXTS } from '../texts.js';
import type { CatalogueRecord, Resource } from '../types.js';
import { useLoad } from '../use-load.js';

const { form: texts } = TEXTS;

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
