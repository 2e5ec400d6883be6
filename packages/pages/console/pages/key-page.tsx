import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { CatalogueError } from '#packages/client/index.js';
import { Breadcrumb } from '../components/breadcrumb.js';
import { Button } from '../components/button.js';
import { ErrorNotice, Notice } from '../components/notice.js';
import { Question } from '../components/question.js';
import { Value } from '../components/value.js';
import { useConsole } from '../context.js';
import { labelOf, numberText } from '../formats.js';
import { TEXTS } from '../texts.js';
import type { CatalogueRecord, RecordPageProps } from '../types.js';
import { useLoad } from '../use-load.js';

const { keys: texts } = TEXTS;

interface Usage {
  readonly requests: number;
  readonly byRoute: readonly { readonly method: string; readonly route: string; readonly requests: number }[];
}

/** An API key with its usage. A key cannot be changed, only revoked. */
export function KeyPage({ resource, id }: RecordPageProps): JSX.Element {
  const { api } = useConsole();
  const [isAsking, setAsking] = useState(false);
  const { value, error, reload } = useLoad(String(id), (signal) => api.collection(resource).read(id, { signal }));
  const record = value && ('id' in value ? value.data : undefined);
  return (
    <>
      <Breadcrumb resource={resource} />
      <div class="heading">
        <h1>{record ? String(record['name']) : resource.title}</h1>
        {record && api.mayWrite(resource) && (
          <Button kind="danger" onClick={() => setAsking(true)}>
            {texts.revoke}
          </Button>
        )}
      </div>
      {error !== undefined && <ErrorNotice error={error} onRetry={reload} />}
      {record && (
        <>
          <dl class="details">
            {resource.fields
              .filter(
                ({ name, isMetadata }) => !isMetadata && name !== 'name' && (record[name] ?? EMPTY[name]) !== undefined,
              )
              .map((field) => (
                <div key={field.name}>
                  <dt>{labelOf(field.name)}</dt>
                  <dd>
                    {record[field.name] === undefined && EMPTY[field.name] ? (
                      EMPTY[field.name]
                    ) : (
                      <Value field={field} value={record[field.name]} isWhole />
                    )}
                  </dd>
                </div>
              ))}
          </dl>
          <UsageTable usage={record['usage'] as Usage | undefined} />
        </>
      )}
      {isAsking && record && <RevokeDialog {...{ resource, id, record, onClose: () => setAsking(false) }} />}
    </>
  );
}

const EMPTY: Readonly<Record<string, string>> = { expiresAt: texts.never, lastUsedAt: texts.neverUsed };

function UsageTable({ usage }: { readonly usage: Usage | undefined }): JSX.Element {
  return (
    <section>
      <h2>{texts.usage}</h2>
      {!usage && <p>{texts.noUsage}</p>}
      {usage && (
        <table class="records">
          <thead>
            <tr>
              <th scope="col">{texts.route}</th>
              <th scope="col" class="number">
                {texts.requests}
              </th>
            </tr>
          </thead>
          <tbody>
            {usage.byRoute.map(({ method, route, requests }) => (
              <tr key={`${method} ${route}`}>
                <th scope="row" data-label={texts.route}>
                  <code>
                    {method} {route}
                  </code>
                </th>
                <td data-label={texts.requests} class="number">
                  {numberText(requests)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

interface RevokeDialogProps extends RecordPageProps {
  readonly record: CatalogueRecord;
  onClose(): void;
}

function RevokeDialog({ resource, id, record, onClose }: RevokeDialogProps): JSX.Element {
  const { api, notify, navigate } = useConsole();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const name = String(record['name']);
  const revoke = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await api.collection(resource).delete(id);
      notify({ kind: 'success', text: texts.revoked(name) });
      navigate({ page: 'list', resource: resource.name, query: new URLSearchParams() });
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  const isLast = problem instanceof CatalogueError && problem.code === 'last_admin_key';
  return (
    <Question
      title={texts.revokeTitle(name)}
      label={texts.revoke}
      isBusy={isBusy}
      onAnswer={() => void revoke()}
      onClose={onClose}
    >
      <p>{texts.revokeText}</p>
      <p>{texts.revokeOwn}</p>
      {isLast && (
        <Notice kind="error" title={texts.lastAdminTitle}>
          <p>{texts.lastAdmin}</p>
        </Notice>
      )}
      {problem !== undefined && !isLast && <ErrorNotice error={problem} />}
    </Question>
  );
}
