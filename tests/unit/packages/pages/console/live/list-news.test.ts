import { expect } from 'chai';
import { areNews, type LiveList, liveList, missingIds, updated } from '#packages/pages/console/live/list-news.js';
import type { News } from '#packages/pages/console/types.js';

const record = (id: number, version = 1, more: object = {}) => ({ id, version, ...more });
const list = (...ids: number[]) =>
  liveList(
    ids.map((id) => record(id)),
    new Set(),
  );
const kinds = ({ marks }: LiveList) => Object.fromEntries([...marks].map(([id, { kind }]) => [id, kind]));
const shown = ({ records }: LiveList) => records.map(({ id }) => id);

describe('the news of a list', () => {
  it('leave every record in its place, mark it, and name the fields that changed', () => {
    const news: News = [
      { id: 2, version: 2 },
      { id: 1, version: 2, deleted: true },
      { id: 9, version: 1 },
    ];
    const page = [record(9), record(3), record(2, 2, { name: 'x' })];
    const next = updated(list(1, 2, 3), { page, others: [], news, isWhole: true });
    expect(shown(next)).to.deep.equal([1, 2, 3]);
    expect(next.records[1]).to.include({ name: 'x' });
    expect(kinds(next)).to.deep.equal({ 1: 'deleted', 2: 'changed' });
    expect([...(next.marks.get(2)?.fields ?? [])]).to.have.members(['version', 'name']);
    expect([...next.here]).to.deep.equal([9]);
    expect(areNews(next, news)).to.equal(true);
    expect(areNews(next, news.slice(0, 2))).to.equal(false);
  });

  it('look for changed records that left the page, and for all that left it where nothing was told', () => {
    const [page, news] = [[record(1)], [{ id: 2, version: 2 }]];
    expect(missingIds(list(1, 2, 3), page, news)).to.deep.equal([2]);
    expect(missingIds(list(1, 2, 3), page, undefined)).to.deep.equal([2, 3]);
    const moved = updated(list(1, 2, 3), { page, others: [record(2, 2)], news, isWhole: true });
    expect(kinds(moved)).to.deep.equal({ 2: 'changed' });
    const all = updated(list(1, 2, 3), { page, others: [record(2, 2)], news: undefined, isWhole: true });
    expect(kinds(all)).to.deep.equal({ 2: 'changed', 3: 'deleted' });
  });

  it('count new records of other pages where no filter hides them, until they are deleted', () => {
    const found = {
      page: [record(1)],
      others: [],
      news: [
        { id: 8, version: 1 },
        { id: 9, version: 4 },
      ],
    };
    expect([...updated(list(1), { ...found, isWhole: false }).elsewhere]).to.deep.equal([]);
    const next = updated(list(1), { ...found, isWhole: true });
    expect([...next.elsewhere]).to.deep.equal([8]);
    const gone: News = [{ id: 8, version: 2, deleted: true }];
    expect(areNews(next, gone)).to.equal(true);
    expect([...updated(next, { ...found, news: gone, isWhole: true }).elsewhere]).to.deep.equal([]);
  });

  it('are no new records that moved here because another one left', () => {
    const news: News = [{ id: 1, version: 2, deleted: true }];
    const next = updated(list(1, 2), { page: [record(2), record(3)], others: [], news, isWhole: true });
    expect([...next.here]).to.deep.equal([]);
  });
});
