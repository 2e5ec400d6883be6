import { expect } from 'chai';
import type { ImportResult } from '#packages/client/index.js';
import type { Field } from '#packages/pages/console/edit/form-model.js';
import type { Comparison, Finding } from '#packages/pages/console/transfer/file-changes.js';
import { RunHistory } from '#packages/pages/console/transfer/run-history.js';
import type { CatalogueRecord } from '#packages/pages/console/types.js';

const never = new AbortController().signal;
const found = (number: number, status: number, rest: object = {}): Finding => ({
  number,
  record: { text: '', columns: undefined },
  result: { line: 1, status, ...rest } as ImportResult,
});

/** A history of a run over these records, of which a check has found all; the last one is deleted by line 9. */
async function historyOf(records: readonly CatalogueRecord[]) {
  const page = async (query: { readonly 'id.in': readonly unknown[] }) => ({
    records: records.filter(({ id }) => query['id.in'].map(String).includes(String(id))),
  });
  const fields = [{ name: 'name', kind: 'text' } as Field];
  const comparison = { collection: { page }, fields, use: { match: 'id', existing: 'merge' } } as unknown as Comparison;
  const history = new RunHistory(() => comparison, 'key');
  const last = records.at(-1)?.id;
  for (const { id } of records.slice(0, -1)) history.find(found(id, 200, { id }));
  const text = JSON.stringify({ id: last, deleted: true });
  history.find({ ...found(9, 204), record: { text, columns: undefined } });
  await history.read(never);
  return history;
}

const RECORDS = [1, 2, 3, 4].map((id) => ({ id, version: 5, name: `No. ${id}` }));

describe('the history of a run', () => {
  it('is undone backwards: old values by the versions that it made, deletions of what it created, new records', async () => {
    const history = await historyOf(RECORDS);
    expect([history.size, await history.undo()]).to.deep.equal([4, undefined]);
    history.add(found(1, 200, { id: 1, version: 6 }));
    history.add(found(2, 200, { id: 2, version: 6 }));
    history.add(found(3, 200, { id: 2, version: 7 }));
    history.add(found(4, 201, { id: 8 }));
    history.add(found(5, 200, { id: 8, version: 2 }));
    history.add(found(9, 204));
    const { steps, ...counts } = (await history.undo()) ?? expect.fail();
    expect(counts).to.deep.equal({ created: 1, changed: 2, deleted: 1 });
    expect(steps.map(({ use }) => [use.match, use.existing])).to.deep.equal([
      [undefined, 'merge'],
      ['id', 'replace'],
    ]);
    const texts = await Promise.all(steps.map(({ file }) => file.text()));
    expect(
      texts.map((text) =>
        text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ),
    ).to.deep.equal([
      [{ version: 5, name: 'No. 4' }],
      [
        { id: 8, version: 2, deleted: true },
        { id: 2, version: 7, name: 'No. 2' },
        { id: 1, version: 6, name: 'No. 1' },
      ],
    ]);
    const old = await Promise.all((await history.oldValues()).map((file) => file.text()));
    expect(old[0]).to.include('"id":1').and.to.include('No. 3');
    expect(old[1]).to.not.include('"id"');
  });

  it('leaves out what was refused, what was so already, and what somebody else wrote in between', async () => {
    const history = await historyOf(RECORDS);
    history.add(found(1, 412, { id: 1, version: 6, error: { code: 'precondition_failed' } }));
    history.add(found(2, 200, { id: 2, version: 5, unchanged: true }));
    history.add(found(3, 200, { id: 3, version: 7 }));
    history.add(found(5, 204, { unchanged: true }));
    expect(await history.undo()).to.equal(undefined);
  });
});
