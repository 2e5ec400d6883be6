import { expect } from 'chai';
import {
  TranslatedRecords,
  type Translation,
} from '#src/adapters/inbound/http/versions/translated-records.js';
import type { Draft } from '#src/application/judgement.js';
import type { ListQuery } from '#src/application/list-query.js';
import type { Records } from '#src/application/record-use-cases.js';
import {
  CatalogueError,
  duplicateValue,
  type Fault,
  fieldFault,
  PreconditionFailed,
} from '#src/domain/errors.js';
import type { Versioned } from '#src/domain/record.js';

interface Kept {
  readonly name: string;
  readonly label: string;
  readonly price?: { readonly amount: number };
}

/** The names of two fields are swapped, so that a name alone never says whose it is. */
interface Shown {
  readonly label: string;
  readonly name: string;
  readonly cost?: { readonly cents: number };
}

const SWAPPED: Translation<Kept, Shown> = {
  names: { label: 'name', name: 'label', 'cost.cents': 'price.amount' },
  shown: ({ name, label, price }) => ({
    label: name,
    name: label,
    ...(price && { cost: { cents: price.amount } }),
  }),
  kept: ({ name, label }, current) => ({
    name: label,
    label: name,
    ...(current && { price: current.price }),
  }),
};

const KEPT: Versioned<Kept> = {
  id: 1,
  version: 3,
  createdAt: 1,
  updatedAt: 2,
  fields: { name: 'n', label: 'l', price: { amount: 5 } },
};
const SHOWN = { ...KEPT, fields: { label: 'n', name: 'l', cost: { cents: 5 } } };
const SENT: Draft<Shown> = { fields: { label: 'n2', name: 'l2' }, faults: [] };

/** @param inner what is asked of the use cases; all else is not there */
const translated = (inner: Partial<Records<Kept>>) => new TranslatedRecords(inner as Records<Kept>, SWAPPED);

const refused = async (work: Promise<unknown>): Promise<CatalogueError> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof CatalogueError) return error;
  throw new Error(`not refused: ${error}`);
};
const pointers = ({ details }: CatalogueError) => details.map(({ pointer }) => pointer);

describe('records in the words of another version', () => {
  it('are asked for by its names, and by the same places', async () => {
    const asked: ListQuery[] = [];
    const records = translated({
      list: async (query) => {
        asked.push(query);
        return { records: [KEPT], hasMore: false };
      },
      async *pages(query) {
        asked.push(query);
        yield [KEPT];
      },
    });
    const query: ListQuery = {
      limit: 2,
      filters: [
        { field: 'label', operator: 'eq', value: 'x' },
        { field: 'cost.cents', operator: 'in', values: [1] },
        { field: 'attributes', operator: 'attribute', key: 'name', value: 'x' },
        { field: 'id', operator: 'gt', value: 1 },
      ],
      order: [
        { field: 'name', descending: true },
        { field: 'id', descending: false },
      ],
      from: { side: 'after', inclusive: false, values: ['l', 1] },
    };
    const page = await records.list(query);
    const pages = [];
    for await (const each of records.pages(query)) pages.push(each);
    expect([page.records, ...pages]).to.deep.equal([[SHOWN], [SHOWN]]);
    const inKept = {
      ...query,
      filters: [
        { field: 'name', operator: 'eq', value: 'x' },
        { field: 'price.amount', operator: 'in', values: [1] },
        { field: 'attributes', operator: 'attribute', key: 'name', value: 'x' },
        { field: 'id', operator: 'gt', value: 1 },
      ],
      order: [
        { field: 'label', descending: true },
        { field: 'id', descending: false },
      ],
    };
    expect(asked).to.deep.equal([inKept, inKept]);
  });

  it('are edited as they are shown, and keep what is not', async () => {
    const records = translated({
      edit: async (_id, _condition, edit) => ({ ...KEPT, fields: edit(KEPT).fields as Kept }),
    });
    const edited = await records.edit(
      1,
      () => true,
      (current) => {
        expect(current).to.deep.equal(SHOWN);
        return SENT;
      },
    );
    expect(edited.fields).to.deep.equal({ label: 'n2', name: 'l2', cost: { cents: 5 } });
  });

  it('are refused in its names, whoever found the fault', async () => {
    const own: Fault = {
      code: 'unknown_field',
      message: 'name is not a field.',
      in: 'body',
      pointer: '/name',
    };
    const inside = fieldFault('too_long', ['price', 'amount', 'x']);
    const judge = (draft: Draft<Kept>) =>
      new CatalogueError('validation_failed', 'see details', [...draft.faults, inside]);
    const records = translated({
      create: async ({ draft }) => {
        throw judge(draft);
      },
      createAll: async (creations) => creations.map(({ draft }) => judge(draft)),
      edit: async (_id, _condition, edit) => {
        throw judge(edit(KEPT));
      },
    });
    const draft = { ...SENT, faults: [own] };
    const errors = [
      await refused(records.create({ draft })),
      ...(await records.createAll([{ draft }])),
      await refused(
        records.edit(
          1,
          () => true,
          () => draft,
        ),
      ),
    ] as CatalogueError[];
    for (const error of errors) {
      expect(pointers(error)).to.deep.equal(['/name', '/cost/cents/x']);
      expect(error.details[1]?.message).to.match(/^cost\.cents\.x /);
    }
  });

  it('tell of a value that is there already by its name', async () => {
    const records = translated({
      create: async () => {
        throw duplicateValue('label');
      },
    });
    const error = await refused(records.create({ draft: SENT }));
    expect([error.code, error.message, pointers(error)]).to.deep.equal([
      'duplicate_value',
      'Another record has this name.',
      ['/name'],
    ]);
  });

  it('leave alone what is told of a patch, and every other error', async () => {
    const details = [{ code: 'invalid_format', message: 'm', in: 'body', pointer: '/name' }] as const;
    const invalid = new CatalogueError('invalid_patch', 'no', details);
    const broken = new Error('broken');
    const edit = (error: Error) =>
      translated({
        edit: async () => {
          throw error;
        },
      }).edit(
        1,
        () => true,
        () => SENT,
      );
    expect(await refused(edit(invalid))).to.equal(invalid);
    expect(await edit(broken).catch((error: unknown) => error)).to.equal(broken);
  });

  it('show in its words what stands in the place of what was expected', async () => {
    const records = translated({
      remove: async () => {
        throw new PreconditionFailed(KEPT);
      },
    });
    const error = await refused(records.remove(1, () => false));
    expect(error).to.be.instanceOf(PreconditionFailed);
    expect((error as PreconditionFailed).current).to.deep.equal(SHOWN);
  });
});
