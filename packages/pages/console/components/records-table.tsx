import type { JSX } from 'preact';
import { useConsole } from '../context.js';
import { recordName, useDeletions } from '../deletions.js';
import { labelOf } from '../formats.js';
import { directionOf, nextSort } from '../list-query.js';
import type { Mark } from '../live/list-news.js';
import { hashOf } from '../router.js';
import { rangeOf, type Selection } from '../selection.js';
import { TEXTS } from '../texts.js';
import type { CatalogueRecord, Field, Resource } from '../types.js';
import { Thumbnail } from './pictures.js';
import { type HrefOf, Value } from './value.js';

interface RecordsTableProps {
  readonly resource: Resource;
  /** What the table shows, for those who do not see the page. */
  readonly title?: string;
  readonly columns: readonly Field[];
  readonly records: readonly CatalogueRecord[];
  readonly sort: string;
  readonly isBusy?: boolean;
  /** What others did to the records since they were read. */
  readonly marks?: ReadonlyMap<number, Mark>;
  /** Absent: the records have a fixed order. */
  onSort?(sort: string): void;
  readonly hrefOf?: HrefOf;
  /** Absent: no record can be selected. */
  readonly selection?: Selection | undefined;
}

/** The records of a page. A click on a header sorts, a click on a row opens its record. */
export function RecordsTable(props: RecordsTableProps): JSX.Element {
  const { resource, title = resource.title, columns, records, sort, isBusy = false, marks, onSort, hrefOf } = props;
  const { selection } = props;
  const { deletions } = useConsole();
  useDeletions(deletions);
  const ids = records.map(({ id }) => id);
  const areAll = ids.every((id) => selection?.ids.has(id));
  const main = columns.find(({ name }) => name === 'name') ?? columns[0];
  const onPhone = phoneColumns(columns.filter((field) => field !== main));
  const classOf = (field: Field) => `${kindOf(field)} ${field === main || onPhone.includes(field) ? '' : 'wide-only'}`;
  return (
    <div class="table-frame">
      <table class="records" aria-busy={isBusy}>
        <caption class="hidden">{title}</caption>
        <thead>
          <tr>
            {selection && (
              <th scope="col" class="check-cell">
                <input
                  type="checkbox"
                  aria-label={TEXTS.bulk.selectPage}
                  checked={areAll}
                  indeterminate={!areAll && ids.some((id) => selection.ids.has(id))}
                  onChange={() => selection.toggle(ids, !areAll)}
                />
              </th>
            )}
            {columns.map((field) => (
              <th
                key={field.name}
                scope="col"
                aria-sort={field.sort ? directionOf(sort, field.sort) : undefined}
                class={classOf(field)}
              >
                {onSort && field.sort !== undefined ? (
                  <button type="button" class="sort" onClick={() => onSort(nextSort(sort, `${field.sort}`))}>
                    {labelOf(field.name)}{' '}
                    <span aria-hidden="true">{ARROWS[directionOf(sort, field.sort) ?? 'none']}</span>
                  </button>
                ) : (
                  <span class={field.meaning === 'pictures' ? 'hidden' : ''}>{labelOf(field.name)}</span>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {records.map((record) => {
            const mark = marks?.get(record.id);
            const href = hashOf({ page: 'record', resource: resource.name, id: record.id });
            const reason = selection?.reasons.get(record.id);
            const isSelected = selection?.ids.has(record.id);
            return (
              <tr
                key={record.id}
                class={`${mark?.kind ?? ''} ${deletions.isWaiting(resource, record.id) ? 'waiting' : ''} ${isSelected ? 'selected' : ''}`}
                onClick={(event) => open(event, href)}
              >
                {selection && (
                  <td class="check-cell">
                    <RowCheck id={record.id} name={recordName(resource, record)} {...{ ids, selection }} />
                  </td>
                )}
                {columns.map((field, at) => {
                  const cell = {
                    key: field.name,
                    'data-label': labelOf(field.name),
                    class: `${classOf(field)} ${mark?.fields.has(field.name) ? 'changed' : ''}`,
                  };
                  const sign = at === 0 && mark && <Sign kind={mark.kind} />;
                  return field === main ? (
                    <th {...cell} scope="row">
                      {sign}
                      <a class="clamped" href={href}>
                        {String(record[field.name] ?? record.id)}
                      </a>
                      {reason !== undefined && <p class="field-error">{reason}</p>}
                    </th>
                  ) : (
                    <td {...cell}>
                      {sign}
                      {field.meaning === 'pictures' ? (
                        <Thumbnail value={record[field.name]} name={String(main ? record[main.name] : '')} />
                      ) : (
                        <Value field={field} value={record[field.name]} hrefOf={hrefOf} />
                      )}
                    </td>
                  );
                })}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

interface RowCheckProps {
  readonly id: number;
  readonly name: string;
  /** Those of the page, in its order. */
  readonly ids: readonly number[];
  readonly selection: Selection;
}

/** The record whose box the person clicked last, from which a click with Shift selects. */
let lastClicked = 0;

function RowCheck({ id, name, ids, selection }: RowCheckProps): JSX.Element {
  const isSelected = selection.ids.has(id);
  return (
    <input
      type="checkbox"
      aria-label={TEXTS.bulk.select(name)}
      checked={isSelected}
      // The browser would select the text in between.
      onMouseDown={(event) => event.shiftKey && event.preventDefault()}
      onClick={({ shiftKey }) => {
        selection.toggle(shiftKey ? rangeOf(ids, lastClicked, id) : [id], !isSelected);
        lastClicked = id;
      }}
    />
  );
}

/** The columns of a row on a phone besides its name: pictures and three others, numbers and choices before them. */
function phoneColumns(columns: readonly Field[]): readonly Field[] {
  const others = columns.filter(({ name, meaning }) => name !== 'id' && meaning !== 'pictures');
  const isShort = (field: Field) => kindOf(field).startsWith('number') || field.schema.enum !== undefined;
  const shown = [...others.filter(isShort), ...others.filter((field) => !isShort(field))].slice(0, 3);
  return columns.filter((one) => shown.includes(one) || one.meaning === 'pictures');
}

/** In the margin of the row, so that nothing moves. */
function Sign({ kind }: Pick<Mark, 'kind'>): JSX.Element {
  const text = TEXTS.live.marks[kind];
  return (
    <span class="sign" title={text}>
      <span aria-hidden="true">{SIGNS[kind]}</span>
      <span class="hidden">{text}</span>
    </span>
  );
}

const SIGNS: Readonly<Record<Mark['kind'], string>> = { changed: '●', deleted: '×', new: '+' };

const ARROWS = { none: '↕', ascending: '↑', descending: '↓' };

/** The link in the row does the same for the keyboard. A click on a link or on selected text keeps its own meaning. */
function open({ target, ctrlKey, metaKey, shiftKey }: MouseEvent, href: string): void {
  if (
    (target as Element).closest('a, button, .check-cell') ||
    getSelection()?.toString() ||
    ctrlKey ||
    metaKey ||
    shiftKey
  )
    return;
  location.hash = href;
}

/** Numbers stand right, so that their digits are below each other. Ids are names. */
function kindOf({ name, schema, meaning }: Field): string {
  if (meaning === 'pictures') return 'picture';
  if (name === 'id') return 'id';
  const isNumber = /^(integer|number)$/.test(String(schema.type)) && !/(id|by)$/i.test(name);
  return name === 'price' ? 'number price' : isNumber ? 'number' : '';
}
