import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import type { IndexScan } from '#src/adapters/outbound/sqlite/lists/index-scan.js';
import { LIST_TUNING, type ListPlan, planCount, planList } from '#src/adapters/outbound/sqlite/lists/plan.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/records/repository.js';
import { rangeCondition } from '#src/adapters/outbound/sqlite/sql/filter.js';
import type { Sql } from '#src/adapters/outbound/sqlite/sql/schema.js';
import type { Filter, Position } from '#src/application/ports/list-query.js';
import type { Product } from '#src/domain/product.js';
import { by, product } from '../../../../../contract/repository/records.js';
import { searchFor } from '../../../../../support/reference-search.js';
import { ENDLESS, PRODUCTS } from '../../../../../support/tables.js';
import { temporaryFolder } from '../../../../../support/temporary-folder.js';

/** More records than are sorted at once. */
const RECORDS = 1_100;

describe('the plan of a list in SQLite', () => {
  const database = new SqliteDatabase(join(temporaryFolder(), 'plans.sqlite'));

  before(async () => {
    await database.open();
    const all = Array.from({ length: RECORDS }, (_, at) =>
      product(at + 1, {
        name: `lamp ${at % 7}`,
        sku: `S${at}`,
        attributes: { colour: 'red', size: at % 50, ...(at < 10 && { rare: true }) },
        brand: 'Acme',
        tags: ['all', `mod/${at % 3}`, ...(at % 20 === 0 ? [] : ['most'])],
      }),
    );
    await new SqliteRepository<Product>(database, PRODUCTS, ENDLESS).insertAll(all);
  });
  after(() => database.close());

  const behind = (...values: (string | number)[]): Position => ({ side: 'after', inclusive: false, values });
  const upTo = (...values: (string | number)[]): Position => ({ side: 'before', inclusive: true, values });
  const named: Filter = { field: 'name', operator: 'gte', value: 'lamp 2' };
  const anyName: Filter = { ...named, value: '' };
  const notNamed: Filter = { field: 'name', operator: 'ne', value: 'lamp 2' };
  const sku: Filter = { field: 'sku', operator: 'eq', value: 'S7' };
  const red: Filter = { field: 'attributes', operator: 'attribute', key: 'colour', value: 'red' };
  const attribute = { field: 'attributes', operator: 'attribute' } as const;
  const sized: Filter = { ...attribute, key: 'size', value: '7' };
  const colours: Filter = { ...attribute, key: 'colour', values: ['red', 'blue'] };
  const large: Filter = { ...attribute, key: 'size', comparison: 'gte', number: 40 };
  const small: Filter = { ...attribute, key: 'size', comparison: 'lt', number: 45 };
  const anySize: Filter = { ...attribute, key: 'size', comparison: 'gte', number: 0 };
  const rare: Filter = { ...attribute, key: 'rare', exists: true };
  const ids: Filter = { field: 'id', operator: 'gt', value: 5 };
  const tag = (value: string): Filter => ({ field: 'tags', operator: 'eq', value });
  const oneOf = (...values: string[]): Filter => ({ field: 'tags', operator: 'in', values });
  const path: Filter = { field: 'tags', operator: 'prefix', value: 'mod/' };
  const brand: Filter = { field: 'brand', operator: 'eq', value: 'Acme' };
  const brands: Filter = { field: 'brand', operator: 'in', values: ['Acme', 'Bolt'] };
  const live: Filter = { field: 'status', operator: 'exists', value: false };

  const lists: [query: string, filters: Filter[], sort: string, from: Position | undefined, plan: string][] =
    [
      ['all', [], 'id', undefined, 'range by id'],
      ['all, from a cursor', [], 'id', behind(7), 'range by id'],
      ['sort=name', [], 'name,id', behind('x', 7), 'range products_name by "name"'],
      ['sort=-name', [], '-name,id', undefined, 'range products_name by "name" DESC, id'],
      [
        'name.gte of all',
        [anyName],
        'id',
        undefined,
        'scan by id, where +"name" >= ""; sorted: rows; limited',
      ],
      ['name.gte of few', [named], 'id', undefined, 'sort products_name where ("name" >= "lamp 2")'],
      [
        'name.gte&sort=name',
        [named],
        'name,id',
        undefined,
        'range products_name by "name", within ("name" >= "lamp 2")',
      ],
      ['sku=', [sku], 'id', undefined, 'range products_sku by id, with "sku" = "S7"'],
      ['sku=&sort=name', [sku], 'name,id', undefined, 'sort products_sku where "sku" = "S7"'],
      [
        'sku=&name.ne=',
        [sku, notNamed],
        'id',
        undefined,
        'sort products_sku where "sku" = "S7" and +"name" <> "lamp 2"',
      ],
      [
        'name.ne, backwards',
        [notNamed],
        'id',
        upTo(9),
        'scan by id DESC from 9, where +"name" <> "lamp 2" and (+"id" <= 9); sorted: rows; limited',
      ],
      [
        'name.ne&sort=-name',
        [notNamed],
        '-name,id',
        undefined,
        'scan products_name by "name" DESC, where +"name" <> "lamp 2"; sorted: ties; limited',
      ],
      ['tags=', [tag('all')], 'id', behind(7), 'range products_values by id, with tags = "all"'],
      [
        'tags=&id.gt, backwards',
        [tag('all'), ids],
        'id',
        upTo(9),
        'range products_values by id DESC, within ("id" > 5), with tags = "all"',
      ],
      [
        'tags.in',
        [oneOf('all', 'mod/1')],
        '-id',
        undefined,
        'range products_values by id DESC, united from 2 of ("all"), ("mod/1"), ("mod/1"), ("mod/1")',
      ],
      [
        'tags.prefix',
        [path],
        'id',
        undefined,
        'range products_values by id, united from 3 of the values where tags >= "mod/" AND tags < "mod0"',
      ],
      [
        'brand.in',
        [brands],
        'id',
        undefined,
        'range products_brand by id, united from 2 of ("Acme"), ("Bolt"), ("Bolt"), ("Bolt")',
      ],
      [
        'tags= of many, and of fewer',
        [tag('all'), tag('most')],
        'id',
        undefined,
        'scan products_values by id, with tags = "most", where tags = "all", looked up by id; sorted: rows; limited',
      ],
      [
        'tags= of many, and of few',
        [tag('all'), tag('mod/1')],
        'id',
        undefined,
        'sort where "id" IN (SELECT id FROM products_values WHERE tags = "mod/1") and tags = "all"',
      ],
      [
        'tags=&brand=',
        [tag('most'), brand],
        'id',
        behind(7),
        'scan products_values by id, with tags = "most" from 7, where ("brand" = "Acme"), looked up by id, where (+"id" > 7); sorted: rows; limited',
      ],
      [
        'tags=&status.exists=false',
        [tag('all'), live],
        '-id',
        undefined,
        'scan products_values by id DESC, with tags = "all", looked up by id, where +"status" IS NULL; sorted: rows; limited',
      ],
      [
        'tags.in&status.exists=false',
        [oneOf('all', 'most'), live],
        'id',
        undefined,
        'scan products_values by id, united from 2 of ("all"), ("most"), ("most"), ("most"), looked up by id, where +"status" IS NULL; sorted: rows; limited',
      ],
      [
        'tags.prefix&brand.in',
        [path, brands],
        'id',
        undefined,
        'scan products_values by id, united from 3 of the values where tags >= "mod/" AND tags < "mod0", where ("brand" IN ("Acme", "Bolt", "Bolt", "Bolt")), looked up by id; sorted: rows; limited',
      ],
      [
        'brand.in&status.exists=false',
        [brands, live],
        'id',
        undefined,
        'scan by id, where ("brand" IN ("Acme", "Bolt", "Bolt", "Bolt")) and +"status" IS NULL; sorted: rows; limited',
      ],
      [
        'tags= of few&sort=name',
        [tag('mod/1')],
        'name,id',
        undefined,
        'sort where "id" IN (SELECT id FROM products_values WHERE tags = "mod/1")',
      ],
      [
        'tags=&sort=name',
        [tag('all'), tag('most')],
        'name,id',
        undefined,
        'scan products_name by "name", where tags = "most" and tags = "all"; sorted: rows; limited; after 4670: scan products_values by id, with tags = "most", where tags = "all", looked up by id; sorted: nothing; limited',
      ],
      [
        'attributes[colour]=',
        [red],
        'id',
        behind(7),
        'range products_values by id, with attributes.colour = "red"',
      ],
      [
        'attributes[size]=, a text or a number',
        [sized],
        'id',
        undefined,
        'range products_values by id, united from 2 of ("7"), (7), (7), (7)',
      ],
      [
        'attributes[colour].in',
        [colours],
        '-id',
        undefined,
        'range products_values by id DESC, united from 2 of ("red"), ("blue"), ("blue"), ("blue")',
      ],
      [
        'attributes[size].gte&attributes[size].lt',
        [large, small],
        'id',
        undefined,
        'sort where "id" IN (SELECT id FROM products_values WHERE attributes.size >= 40 AND attributes.size < 45)',
      ],
      [
        'attributes[size].gte of all',
        [anySize],
        'id',
        undefined,
        'scan by id, where the number $.attributes."size"; sorted: rows; limited',
      ],
      [
        'attributes[rare].exists',
        [rare],
        'id',
        undefined,
        'sort where "id" IN (SELECT id FROM products_values WHERE (field = "attributes.rare") AND (TRUE))',
      ],
      [
        'attributes[colour]=&tags=&sort=name',
        [red, tag('all')],
        'name,id',
        undefined,
        'scan products_name by "name", where attributes.colour = "red" and tags = "all"; sorted: rows; limited; after 4872: scan products_values by id, with attributes.colour = "red", where tags = "all", looked up by id; sorted: nothing; limited',
      ],
      [
        'attributes[colour]=&tags=&status.exists=false',
        [red, tag('all'), live],
        'id',
        undefined,
        'scan products_values by id, with attributes.colour = "red", where tags = "all", looked up by id, where +"status" IS NULL; sorted: rows; limited',
      ],
      [
        'tags.exists',
        [{ ...live, field: 'tags' }],
        'id',
        undefined,
        "scan by id, where fields -> '$.tags' IS NULL; sorted: rows; limited",
      ],
      [
        'q&tags= of few',
        [searchFor('lamp'), tag('mod/1')],
        'id',
        undefined,
        'scan by id, with "id" IN (SELECT id FROM products_values WHERE tags = "mod/1"), of lamp by rows from 0; sorted: nothing; limited',
      ],
      [
        'q&tags.prefix',
        [searchFor('lamp'), path],
        'id',
        undefined,
        'scan of lamp by blocks from 0, where instr(fields, "\\"mod/") > 0 and EXISTS (SELECT 1 FROM json_each(fields, \'$.tags\') WHERE (value >= "mod/") AND (value < "mod0")); sorted: rows; limited',
      ],
      ['q', [searchFor('lamp red')], 'id', undefined, 'blocks of lamp red from 0'],
      ['q, from a cursor', [searchFor('lamp')], 'id', behind(7), 'blocks of lamp from 8'],
      ['q, backwards', [searchFor('lamp')], 'id', upTo(7), 'blocks of lamp to 7, descending'],
      ['q&id.gt', [searchFor('lamp'), ids], '-id', undefined, 'blocks of lamp from 6, descending'],
      [
        'q&name.gte',
        [searchFor('lamp'), anyName],
        'id',
        undefined,
        'scan of lamp by blocks from 0, where +"name" >= ""; sorted: rows; limited',
      ],
      [
        'q of a word that the index has in part',
        [searchFor('tischbeleuchtungskorper')],
        'id',
        undefined,
        'scan of tischbeleuchtungskorper by blocks from 0; sorted: rows; limited',
      ],
      [
        'q&sku=',
        [searchFor('lamp'), sku],
        'id',
        undefined,
        'scan products_sku by id, with "sku" = "S7", of lamp by rows from 0; sorted: nothing; limited',
      ],
      [
        'q&sort=name',
        [searchFor('lamp')],
        'name,id',
        behind('lamp 1', 7),
        'scan products_name by "name" from "lamp 1", 7, of lamp by matches from 0, where (+"name" > "lamp 1") OR (+"name" IS "lamp 1" AND +"id" > 7); sorted: rows',
      ],
    ];
  for (const [query, filters, sort, from, plan] of lists)
    it(`${query}: ${plan}`, () => {
      const list = { limit: 20, filters, order: by(sort), ...(from && { from }) };
      expect(printed(planList(database, PRODUCTS, list))).to.equal(plan);
    });

  const counts: [query: string, filters: Filter[], plan: string][] = [
    ['all', [], 'scan products_created_at by created_at; sorted: nothing; limited'],
    ['name.gte', [anyName], 'scan products_name by "name", within ("name" >= ""); sorted: nothing; limited'],
    ['sku=', [sku], 'sort products_sku where "sku" = "S7"'],
    ['tags=', [tag('all')], 'scan products_values by id, with tags = "all"; sorted: nothing; limited'],
    [
      'tags=&status.exists=false',
      [tag('all'), live],
      'scan products_values by id, with tags = "all", looked up by id, where +"status" IS NULL; sorted: nothing; limited; or columns tags, status',
    ],
    [
      'tags.in',
      [oneOf('all', 'most')],
      'scan products_values by id, united from 2 of ("all"), ("most"), ("most"), ("most"), looked up by id; sorted: nothing; limited',
    ],
    [
      'attributes[colour]=',
      [red],
      'scan products_values by id, with attributes.colour = "red"; sorted: nothing; limited',
    ],
    [
      'attributes[size].gte',
      [anySize],
      'scan products_values by value, within (value >= 0) AND (value < ""), with field = "attributes.size"; sorted: nothing; limited',
    ],
    [
      'attributes[size].gte&tags=',
      [anySize, tag('all')],
      'scan products_values by id, with tags = "all", looked up by id, where the number $.attributes."size"; sorted: nothing; limited; or columns size, tags',
    ],
    [
      'attributes[size].gte&name.ne',
      [anySize, notNamed],
      'scan products_values by value, within (value >= 0) AND (value < ""), with field = "attributes.size", looked up by id, where +"name" <> "lamp 2"; sorted: nothing; limited',
    ],
    [
      'tags.exists',
      [{ ...live, field: 'tags' }],
      "scan products_created_at by created_at, where fields -> '$.tags' IS NULL; sorted: nothing; limited",
    ],
    [
      'brand.in',
      [brands],
      'scan products_created_at by created_at, where ("brand" IN ("Acme", "Bolt", "Bolt", "Bolt")); sorted: nothing; limited; or columns brand',
    ],
    ['q', [searchFor('lamp')], 'scan of lamp by blocks from 0; sorted: rows'],
    [
      'q&attributes',
      [searchFor('lamp'), red],
      'scan of lamp by blocks from 0, where attributes.colour = "red"; sorted: rows; limited',
    ],
  ];
  for (const [query, filters, plan] of counts)
    it(`of a count: ${query}: ${plan}`, () => {
      expect(printed(planCount(database, PRODUCTS, filters))).to.equal(plan);
    });

  it('sorts all records that match if few of those that the order passes would match', async () => {
    const sparse = new SqliteDatabase(join(temporaryFolder(), 'sparse.sqlite'));
    await sparse.open();
    const all = Array.from({ length: RECORDS }, (_, at) =>
      product((at + 1) * 1_000, { tags: ['all'], brand: 'Acme' }),
    );
    await new SqliteRepository<Product>(sparse, PRODUCTS, ENDLESS).insertAll(all);
    const query = { limit: 20, filters: [tag('all'), brand], order: by('-name,id'), from: behind('x', 7) };
    expect(printed(planList(sparse, PRODUCTS, query))).to.equal(
      'scan products_brand by id, with "brand" = "Acme", where tags = "all" and (+"name" < "x") OR (+"name" IS "x" AND +"id" > 7); sorted: nothing; limited; or columns tags, brand and scan products_name by "name" DESC, within ("name" <= "x"), looked up by id, where (+"name" < "x") OR (+"name" IS "x" AND +"id" > 7); sorted: ties; limited',
    );
    await sparse.close();
  });

  for (const [filters, sort, share, expected] of [
    [[tag('all'), red], '-id', 0.9, 'columns tags, colour'],
    [[tag('all'), red], 'name,id', 0.01, 'columns tags, colour, name'],
    [[tag('all'), red], 'name,id', 0.9, undefined],
    [[tag('all'), red], '-price.amount,name,id', 0.01, undefined],
    [[tag('all')], 'id', 0.01, undefined],
    [[], 'name,id', 0.01, undefined],
    [[tag('all'), { field: 'url', operator: 'exists', value: true }], 'id', 0.01, undefined],
  ] as const)
    it(`${expected ? 'looks' : 'does not look'} through columns that remember ${filters.length} filters of a share of ${share} by ${sort}`, () => {
      const atHand = { share: () => share, has: () => true };
      const query = { limit: 20, filters, order: by(sort) };
      const plan = planList(database, PRODUCTS, query, LIST_TUNING, atHand);
      expect(printed(plan)).to.equal(expected ?? printed(planList(database, PRODUCTS, query)));
      const none = { share: () => undefined, has: () => true };
      expect(planList(database, PRODUCTS, query, LIST_TUNING, none)).to.deep.equal(
        planList(database, PRODUCTS, query),
      );
    });

  it('is plain data', () => {
    for (const [, filters, sort, from] of lists) {
      const plan = planList(database, PRODUCTS, {
        limit: 20,
        filters,
        order: by(sort),
        ...(from && { from }),
      });
      expect(structuredClone(plan)).to.deep.equal(plan);
    }
  });
});

function printed(plan: ListPlan): string {
  if (plan.kind === 'range') return `range ${scanText(plan.scan)}`;
  if (plan.kind === 'columns') {
    const names = [...plan.fields, ...(plan.ordered ? [plan.ordered] : [])].map(
      ({ field, key }) => key ?? field,
    );
    return `columns ${names.join(', ')}`;
  }
  if (plan.kind === 'sort')
    return `sort ${indexIn(plan.source)}where ${[plan.found, ...plan.checks].map(sqlText).join(' and ')}`;
  const { ids, descending, words } = plan.search ?? { ids: { low: 0, high: 0 }, words: [] };
  const range = [
    descending && ids.high < Number.POSITIVE_INFINITY ? ` to ${ids.high}` : ` from ${ids.low}`,
    ...(descending ? [', descending'] : []),
  ].join('');
  if (plan.kind === 'blocks') return `blocks of ${words.join(' ')}${range}`;
  const { source, scan, start, search, probes, conditions, sorted, isLimited, instead, columns } = plan;
  const from = start
    ? ` from ${[start.value, start.id]
        .filter((value) => value !== undefined)
        .map((value) => JSON.stringify(value))
        .join(', ')}`
    : '';
  const rows = search?.by === 'blocks' ? [] : [`${scanText(scan)}${from}`];
  const searched = search ? [`of ${words.join(' ')} by ${search.by}${range}`] : [];
  const where = conditions.length > 0 ? [`where ${conditions.map(sqlText).join(' and ')}`] : [];
  const probed = probes.length > 0 ? [`where ${probes.map(sqlText).join(' and ')}`] : [];
  const lookup = search || source === scan.source ? [] : ['looked up by id'];
  const all = [...rows, ...searched, ...probed, ...lookup, ...where].join(', ');
  const otherwise = instead ? [`after ${Math.round(instead.afterRows)}: ${printed(instead.plan)}`] : [];
  const names = columns?.fields.map(({ field, key }) => key ?? field).join(', ');
  const held = columns ? [`or columns ${names}${columns.order ? ` and ${printed(columns.order)}` : ''}`] : [];
  return [`scan ${all}`, `sorted: ${sorted}`, ...(isLimited ? ['limited'] : []), ...otherwise, ...held].join(
    '; ',
  );
}

function scanText({ source, column, descending, idDescending, range, fixed, union }: IndexScan): string {
  const name = column === '"id"' ? 'id' : column;
  const ties = idDescending === descending ? '' : ', id';
  const within = range.low || range.high ? `, within ${sqlText(rangeCondition(column, range))}` : '';
  const united = union ? `, united from ${union.count} of ${sqlText(union.values)}` : '';
  const withFixed = fixed && !union ? `, with ${sqlText(fixed)}` : united;
  return `${indexIn(source)}by ${name}${descending ? ' DESC' : ''}${ties}${within}${withFixed}`;
}

/** The name of the index, or of the table of values, in the source of a statement; nothing for the table's own order. */
function indexIn(source: string): string {
  const [table, index] = source.split(' INDEXED BY ');
  if (index) return `${index} `;
  return table?.endsWith(' AS seek') ? `${table.slice(0, -8)} ` : '';
}

/** The text of a condition with its values. Conditions on the index of values are written as `FIELD = VALUE`. */
function sqlText({ text, values }: Sql): string {
  if (text.includes('wanted(path')) return 'attributes';
  if (text.startsWith('json_type(fields')) return `the number ${values[0]}`;
  const rest = [...values];
  const shown = (value: unknown) => (/^\[/.test(String(value)) ? String(value) : JSON.stringify(value));
  const all = text
    .replaceAll(/\s+/g, ' ')
    .replaceAll('?', () => shown(rest.shift()))
    .replaceAll(
      /\(field = "(.*?)"\) AND \((?:\((value .*?)\) AND \((value .*?)\)|(value .*?))\)/g,
      (_, field, ...parts) =>
        parts
          .slice(0, 3)
          .filter((part) => part)
          .map((part) => part.replace('value', field))
          .join(' AND '),
    )
    .replaceAll(' AS seek', '')
    .replaceAll(/EXISTS \(SELECT 1 FROM .*? WHERE (.*?) AND \(id = (?:products|seek).id\)\)/g, '$1');
  if (text.startsWith('WITH RECURSIVE')) return `the values where ${/WHERE (.*?) UNION/.exec(all)?.[1]}`;
  return all
    .replace(/SELECT column1 AS value FROM \(VALUES (.*)\)/, '$1')
    .replace(/SELECT value FROM json_each\((\[.*?\])\)/, '$1');
}
