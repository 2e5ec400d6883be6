import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Breadcrumb } from '../components/breadcrumb.js';
import { Button } from '../components/button.js';
import { Question } from '../components/dialog.js';
import { FramedTable } from '../components/framed-table.js';
import { ErrorNotice } from '../components/notice.js';
import { Details } from '../components/value.js';
import { useConsole } from '../context.js';
import { numberText } from '../formats.js';
import { hashOfList, routeOf } from '../router.js';
import { TEXTS } from '../texts.js';
import type { RecordPageProps } from '../types.js';
import { useLoad } from '../use-load.js';

const { keys: texts } = TEXTS;

interface Usage {
  readonly requests: number;
  readonly byRoute: readonly { readonly method: string; readonly route: string; readonly requests: number }[];
}

/** An API key with its usage. A key cannot be changed, only revoked. */
export function KeyPage({ resource, id }: RecordPageProps): JSX.Element {
  const { api, notify, navigate } = useConsole();
  const [isAsking, setAsking] = useState(false);
  const { value, error, reload } = useLoad(String(id), (signal) =>
    api.collection(resource).read<never>(id, { signal }),
  );
  const record = value?.data;
  const usage = record?.['usage'] as Usage | undefined;
  const name = String(record?.['name'] ?? resource.title);
  const revoke = async () => {
    await api.collection(resource).delete(id);
    notify({ kind: 'success', text: texts.revoked(name) });
    navigate(routeOf(hashOfList(resource.name)));
  };
  return (
    <>
      <Breadcrumb resource={resource} />
      <div class="heading">
        <h1>{name}</h1>
        {record && api.mayWrite(resource) && (
          <Button kind="danger" onClick={() => setAsking(true)}>
            {texts.revoke}
          </Button>
        )}
      </div>
      {error !== undefined && <ErrorNotice error={error} onRetry={reload} />}
      {record && (
        <>
          <Details record={record} fields={resource.fields.filter((one) => one.name !== 'name' && !one.isMetadata)} />
          <FramedTable title={texts.usage} columns={[texts.route, texts.requests]} none={texts.noUsage}>
            {usage?.byRoute.map(({ method, route, requests }) => (
              <tr key={`${method} ${route}`}>
                <th scope="row" data-label={texts.route}>
                  <code>
                    {method} {route}
                  </code>
                </th>
                <td data-label={texts.requests}>{numberText(requests)}</td>
              </tr>
            ))}
          </FramedTable>
        </>
      )}
      {isAsking && (
        <Question
          title={texts.revokeTitle(name)}
          label={texts.revoke}
          onAnswer={revoke}
          onClose={() => setAsking(false)}
        >
          <p>{texts.revokeText}</p>
          <p>{texts.revokeOwn}</p>
        </Question>
      )}
    </>
  );
}
