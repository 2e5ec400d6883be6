import type { JSX } from 'preact';
import { labelOf } from '../formats.js';
import { directionOf, nextSort } from '../list-query.js';
import { hashOf } from '../router.js';
import type { CatalogueRecord, Field, Resource } from '../types.js';
import { type HrefOf, Value } from './value.js';

interface RecordsTableProps {
  readonly resource: Resource;
  /** What the table shows, for those who do not see the page. */
  readonly title?: string;
  readonly columns: readonly Field[];
  readonly records: readonly CatalogueRecord[];
  readonly sort: string;
  readonly isBusy: boolean;
  isWaiting(id: number): boolean;
  /** Absent: the records have a fixed order. */
  onSort?(sort: string): void;
  readonly hrefOf?: HrefOf;
}

/** The records of a page. A click on a header sorts, a click on a row opens its record. On a phone, rows are cards. */
export function RecordsTable(props: RecordsTableProps): JSX.Element {
  const {
    resource,
    title = resource.title,
    columns,
    records,
    sort,
    isBusy,
    isWaiting,
    onSort,
    hrefOf,
  } = props;
  const main = columns.find(({ name }) => name === 'name') ?? columns[0];
  return (
    <div class="table-frame">
      <table class="records" aria-busy={isBusy}>
        <caption class="hidden">{title}</caption>
        <thead>
          <tr>
            {columns.map((field) => (
              <th
                key={field.name}
                scope="col"
                aria-sort={directionOf(sort, field.name)}
                class={kindOf(field)}
              >
                {onSort && field.isSortable ? (
                  <SortButton field={field} sort={sort} onSort={onSort} />
                ) : (
                  labelOf(field.name)
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {records.map((record) => {
            const href = hashOf({ page: 'record', resource: resource.name, id: record.id });
            return (
              <tr
                key={record.id}
                class={isWaiting(record.id) ? 'waiting' : ''}
                onClick={(event) => open(event, href)}
              >
                {columns.map((field) =>
                  field === main ? (
                    <th key={field.name} scope="row" data-label={labelOf(field.name)} class={kindOf(field)}>
                      <a href={href}>{String(record[field.name] ?? record.id)}</a>
                    </th>
                  ) : (
                    <td key={field.name} data-label={labelOf(field.name)} class={kindOf(field)}>
                      <Value field={field} value={record[field.name]} hrefOf={hrefOf} />
                    </td>
                  ),
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

interface SortButtonProps {
  readonly field: Field;
  readonly sort: string;
  onSort(sort: string): void;
}

function SortButton({ field, sort, onSort }: SortButtonProps): JSX.Element {
  const label = labelOf(field.name);
  const direction = directionOf(sort, field.name);
  const arrow = direction === undefined ? '↕' : direction === 'ascending' ? '↑' : '↓';
  return (
    <button type="button" class="sort" onClick={() => onSort(nextSort(sort, field.name))}>
      {label} <span aria-hidden="true">{arrow}</span>
    </button>
  );
}

/** The link in the row does the same for the keyboard. A click on a link or on selected text keeps its own meaning. */
function open({ target, ctrlKey, metaKey, shiftKey }: MouseEvent, href: string): void {
  if (
    (target as Element).closest('a, button') ||
    getSelection()?.toString() ||
    ctrlKey ||
    metaKey ||
    shiftKey
  )
    return;
  location.hash = href;
}

/** Numbers stand right, so that their digits are below each other. Ids are names. */
function kindOf({ name, schema }: Field): string {
  const isNumber = /^(integer|number)$/.test(String(schema.type)) && !/id$/i.test(name);
  return isNumber || name === 'price' ? 'number' : '';
}
