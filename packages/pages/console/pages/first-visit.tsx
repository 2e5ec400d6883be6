import type { ComponentChildren, JSX } from 'preact';
import { dataOf } from '../api.js';
import { Button } from '../components/button.js';
import { ErrorNotice } from '../components/notice.js';
import { useConsole } from '../context.js';
import { hashOf } from '../router.js';
import { TEXTS } from '../texts.js';
import type { Api, Resource } from '../types.js';
import { useAction } from '../use-load.js';

const { firstVisit: texts } = TEXTS;

interface FirstVisitProps {
  readonly resource: Resource;
  /** Called when there are records. */
  onFilled(): void;
}

/** What a person can do with a resource that has no records yet. */
export function FirstVisit({ resource, onFilled }: FirstVisitProps): JSX.Element {
  const { api, resources, notify } = useConsole();
  const { run, isBusy, problem } = useAction(async () => {
    notify({ kind: 'success', text: texts.loaded(await loadSamples(api, resource)) });
    onFilled();
  });
  const link = (label: string, page: 'import' | 'new', name = resource.name) => (
    <a class="button" href={hashOf({ page, resource: name })}>
      {label}
    </a>
  );
  const isOffered = (name: string) => resources.some((one) => one.name === name && api.mayWrite(one));
  return (
    <section class="first-visit">
      <h2>{texts.title(resource.title)}</h2>
      {problem !== undefined && <ErrorNotice error={problem} />}
      <ul>
        {resource.name === 'products' && (
          <Step {...texts.samples}>
            <Button kind="primary" busy={isBusy} onClick={run}>
              {texts.samples.action}
            </Button>
          </Step>
        )}
        <Step {...texts.file}>{link(texts.file.action, 'import')}</Step>
        <Step {...texts.record}>{link(`${TEXTS.list.new} ${resource.singular}`, 'new')}</Step>
        {isOffered('api-keys') && <Step {...texts.key}>{link(texts.key.action, 'new', 'api-keys')}</Step>}
        {isOffered('webhooks') && <Step {...texts.webhook}>{link(texts.webhook.action, 'new', 'webhooks')}</Step>}
      </ul>
    </section>
  );
}

interface StepProps {
  readonly name: string;
  readonly text: string;
  readonly children: ComponentChildren;
}

function Step({ name, text, children }: StepProps): JSX.Element {
  return (
    <li>
      <h3>{name}</h3>
      <p>{text}</p>
      {children}
    </li>
  );
}

/** Creates the products that `catalogue seed --products 200` creates. @returns how many are new */
async function loadSamples({ catalogue, collection }: Api, resource: Resource): Promise<number> {
  const data = await dataOf(catalogue.request('get', '/console/samples.json' as '/v1/products', {} as never));
  // Their SKUs are those of the types of products.
  const samples = (data as unknown as readonly { readonly sku: string }[]).map((sample, at) => ({
    ...sample,
    sku: `${sample.sku}-1-${(at + 1).toString(36).toUpperCase().padStart(5, '0')}`,
  }));
  let created = 0;
  for await (const { status } of collection(resource).import(samples)) created += Number(status === 201);
  return created;
}
