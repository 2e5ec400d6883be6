import type { JSX } from 'preact';
import { columnsOf } from '../components/column-menu.js';
import { ErrorNotice } from '../components/notice.js';
import { RecordsTable } from '../components/records-table.js';
import { textLinks } from '../components/text-links.js';
import { useConsole } from '../context.js';
import { labelOf } from '../formats.js';
import { hashOfList } from '../router.js';
import { TEXTS } from '../texts.js';
import type { CatalogueRecord, Field, Resource } from '../types.js';
import { useLoad } from '../use-load.js';

/** The most variants that the page of a record lists. A link leads to all. */
const MOST = 20;

interface VariantsProps {
  readonly resource: Resource;
  readonly record: CatalogueRecord;
  /** What the variants share. */
  readonly field: Field;
}

/** The other records that share the value of a field whose records are variants of one another. */
export function Variants({ resource, record, field }: VariantsProps): JSX.Element | null {
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
  const title = TEXTS.form.variants(labelOf(field.name), value);
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
          <a href={list}>{TEXTS.form.allVariants}</a>
        </p>
      )}
    </section>
  );
}
