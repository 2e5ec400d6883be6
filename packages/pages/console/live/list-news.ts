import { isSame, type Json } from '../edit/json.js';
import type { CatalogueRecord, News } from '../types.js';

/** What others did to a record that is shown. */
export interface Mark {
  readonly kind: 'changed' | 'deleted' | 'new';
  /** The fields that changed. */
  readonly fields: ReadonlySet<string>;
}

/** The records of a list in the order in which they were read, with what happened since. */
export interface LiveList {
  readonly records: readonly CatalogueRecord[];
  readonly marks: ReadonlyMap<number, Mark>;
  /** The ids of records that this page has now too, and that others made or changed. */
  readonly here: ReadonlySet<number>;
  /** The ids of new records on other pages, as far as they are known. */
  readonly elsewhere: ReadonlySet<number>;
}

const NO_FIELDS: ReadonlySet<string> = new Set();

/** @param added the ids of the records to mark as new */
export function liveList(records: readonly CatalogueRecord[], added: ReadonlySet<number>): LiveList {
  const isNew = { kind: 'new', fields: NO_FIELDS } as const;
  const marks = new Map(records.flatMap(({ id }) => (added.has(id) ? [[id, isNew]] : [])));
  return { records, marks, here: new Set(), elsewhere: new Set() };
}

/** Whether the list does not show these news already: the person's own changes, for instance. */
export function areNews({ records, marks, here, elsewhere }: LiveList, news: News): boolean {
  if (!news) return true;
  const versions = new Map(records.map(({ id, version }) => [id, Number(version)]));
  return news.some(({ id, version, deleted }) => {
    if (deleted) return (versions.has(id) && marks.get(id)?.kind !== 'deleted') || here.has(id) || elsewhere.has(id);
    return !(Number(versions.get(id)) >= version);
  });
}

/** The ids of shown records whose newest state the page does not have. */
export function missingIds({ records, marks }: LiveList, page: readonly CatalogueRecord[], news: News): number[] {
  const [found, changed] = [idsOf(page), changedIds(news)];
  return records
    .map(({ id }) => id)
    .filter((id) => !found.has(id) && marks.get(id)?.kind !== 'deleted' && (changed?.has(id) ?? true));
}

interface Found {
  /** What the page of the list has now. */
  readonly page: readonly CatalogueRecord[];
  /** Those of {@link missingIds} that exist. */
  readonly others: readonly CatalogueRecord[];
  readonly news: News;
  /** Whether the list has all records, on other pages if not here. */
  readonly isWhole: boolean;
}

/** The list with what was found: each record stays in its place, also if it is deleted, and none is added. */
export function updated(list: LiveList, { page, others, news, isWhole }: Found): LiveList {
  const found = new Map([...page, ...others].map((record) => [record.id, record]));
  const missing = new Set(missingIds(list, page, news));
  const deletedIds = new Set(news?.flatMap(({ id, deleted }) => (deleted ? [id] : [])));
  const marks = new Map(list.marks);
  const records = list.records.map((record) => {
    const newest = found.get(record.id);
    if (deletedIds.has(record.id) || (missing.has(record.id) && !newest))
      marks.set(record.id, { kind: 'deleted', fields: NO_FIELDS });
    if (!newest || !(Number(newest['version']) > Number(record['version']))) return record;
    const before = marks.get(record.id);
    if (before?.kind !== 'deleted') marks.set(record.id, markOf(before, record, newest));
    return newest;
  });
  const shown = idsOf(records);
  const changed = changedIds(news);
  const here = page
    .map(({ id }) => id)
    .filter((id) => !shown.has(id) && (list.here.has(id) || (changed?.has(id) ?? true)));
  const made = (isWhole && news ? news : []).filter(({ version, deleted }) => version === 1 && !deleted);
  const elsewhere = [...list.elsewhere, ...idsOf(made)].filter(
    (id) => !shown.has(id) && !deletedIds.has(id) && !here.includes(id),
  );
  return { records, marks, here: new Set(here), elsewhere: new Set(elsewhere) };
}

function markOf(before: Mark | undefined, record: CatalogueRecord, newest: CatalogueRecord): Mark {
  const names = new Set([...Object.keys(record), ...Object.keys(newest)]);
  const changed = [...names].filter((name) => !isSame(record[name] as Json, newest[name] as Json));
  return { kind: before?.kind ?? 'changed', fields: new Set([...(before?.fields ?? []), ...changed]) };
}

/** The ids of the records that were made or changed; undefined if they are not known. */
function changedIds(news: News): ReadonlySet<number> | undefined {
  return news && idsOf(news.filter(({ deleted }) => !deleted));
}

function idsOf(records: readonly { readonly id: number }[]): ReadonlySet<number> {
  return new Set(records.map(({ id }) => id));
}
