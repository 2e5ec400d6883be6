/**
 * The limit of the shop's page: SQL by hand, over a table and indexes for exactly the requests of `../shop.ts`, behind
 * Node's HTTPS server. It checks no parameter. Its first start fills its file. Arguments: CERTIFICATE_FILE
 * PRODUCTS_FILE.
 */
import { createReadStream, existsSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { createInterface } from 'node:readline';
import Database from 'libsql';
import type { Product } from '#src/domain/product.js';
import { announce, certificate, send } from './start.js';

const FILE = 'data/limit.db';
const INSTANT = '2026-01-01T00:00:00.000Z';
const FACET_LIMIT = 20;

/** A row for each tag of a product, with what is filtered, sorted by or counted. */
const TABLES = `
  CREATE TABLE products (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
  CREATE TABLE tagged (
    tag TEXT, id INTEGER, name TEXT, price INTEGER, currency TEXT, brand TEXT, colour TEXT, material TEXT,
    PRIMARY KEY (tag, id)
  ) WITHOUT ROWID`;

/** A request reads one of them, in its order, and of `products` only what it sends. */
const INDEXES = `
  CREATE INDEX by_price ON tagged (tag, colour, price, id);
  CREATE INDEX by_name ON tagged (tag, colour, name, id, price);
  CREATE INDEX by_id ON tagged (tag, colour, id, price);
  CREATE INDEX by_brand ON tagged (tag, colour, brand, price);
  CREATE INDEX by_material ON tagged (tag, colour, material, price);
  CREATE INDEX by_currency ON tagged (tag, colour, currency, price);
  CREATE TABLE facet_values AS
    SELECT DISTINCT 'tag' AS field, tag AS value FROM tagged
    UNION SELECT 'brand', brand FROM tagged
    UNION SELECT 'colour', colour FROM tagged
    UNION SELECT 'material', material FROM tagged
    UNION SELECT 'currency', currency FROM tagged`;

if (!existsSync(FILE)) await fill();
const database = new Database(FILE, { readonly: true });
database.pragma('mmap_size = 4294967296');

type Filters = [tag: string, colour: string, from: number, below: number];
const MATCHES = 'tag = ?1 AND colour = ?2 AND price >= ?3 AND price < ?4';
const PAGES = {
  'price.amount': pageStatement('by_price', 'price, id'),
  name: pageStatement('by_name', 'name, id'),
  '-id': pageStatement('by_id', 'id DESC'),
};
const count = database.prepare(`SELECT count(*) FROM tagged INDEXED BY by_price WHERE ${MATCHES}`).raw();
const FACETS = {
  tags: facetStatement('tag', 'by_price', 'tag = value AND colour = ?2'),
  brand: facetStatement('brand', 'by_brand', 'tag = ?1 AND colour = ?2 AND brand = value'),
  'attributes[colour]': facetStatement('colour', 'by_price', 'tag = ?1 AND colour = value'),
  'attributes[material]': facetStatement('material', 'by_material', 'tag = ?1 AND colour = ?2 AND material = value'),
  'price.currency': facetStatement('currency', 'by_currency', 'tag = ?1 AND colour = ?2 AND currency = value'),
};

const server = createServer(certificate(), ({ url = '', headers }, response) => {
  const { pathname, searchParams } = new URL(url, 'https://localhost');
  const filters: Filters = [
    searchParams.get('tags') ?? '',
    searchParams.get('attributes[colour]') ?? '',
    Number(searchParams.get('price.amount.gte')),
    Number(searchParams.get('price.amount.lt')),
  ];
  if (pathname === '/v1/products/facets') {
    const fields = (searchParams.get('fields') ?? '').split(',') as (keyof typeof FACETS)[];
    send(response, 200, `[${fields.map((field) => facet(field, filters)).join()}]`, []);
    return;
  }
  const sort = (searchParams.get('sort') ?? '') as keyof typeof PAGES;
  const [bodies, ids] = PAGES[sort].get([...filters, Number(searchParams.get('limit'))]) as [string?, string?];
  const next = ids ? ['Link', `<${url}&cursor=${ids.slice(ids.lastIndexOf(',') + 1)}>; rel="next"`] : [];
  const total = headers['prefer'] ? ['X-Total-Count', `${(count.get(filters) as [number])[0]}`] : [];
  send(response, 200, `[${bodies ?? ''}]`, [...next, ...total]);
});
server.listen(0, '127.0.0.1', () => announce(server));

function pageStatement(index: string, order: string): Database.Statement {
  return database
    .prepare(
      `SELECT group_concat(body), group_concat(found.id)
        FROM (SELECT id FROM tagged INDEXED BY ${index} WHERE ${MATCHES} ORDER BY ${order} LIMIT ?5) AS found
        CROSS JOIN products ON products.id = found.id`,
    )
    .raw();
}

/** Counts the rows of each value, because that needs no sorting of rows. */
function facetStatement(field: string, index: string, condition: string): Database.Statement {
  return database
    .prepare(
      `SELECT value, count
        FROM (
          SELECT value, (
            SELECT count(*) FROM tagged INDEXED BY ${index} WHERE ${condition} AND price >= ?3 AND price < ?4
          ) AS count
          FROM facet_values WHERE field = '${field}' AND value IS NOT NULL
        )
        WHERE count > 0 ORDER BY count DESC, value LIMIT ${FACET_LIMIT + 1}`,
    )
    .raw();
}

function facet(field: keyof typeof FACETS, filters: Filters): string {
  const rows = FACETS[field].all(filters) as [string, number][];
  const values = rows.slice(0, FACET_LIMIT).map(([value, number]) => ({ value, count: number }));
  return JSON.stringify({ field, values, more: rows.length > FACET_LIMIT });
}

async function fill(): Promise<void> {
  const [, , , productsFile = ''] = process.argv;
  const part = `${FILE}-part`;
  rmSync(part, { force: true });
  const filled = new Database(part);
  filled.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000; ${TABLES}; BEGIN`);
  const insert = filled.prepare('INSERT INTO products VALUES (?, ?)');
  const tag = filled.prepare('INSERT INTO tagged VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  let id = 0;
  for await (const line of createInterface(createReadStream(productsFile))) {
    const { name, price, brand, attributes, tags = [] } = JSON.parse(line) as Product;
    id++;
    const metadata = `"version":1,"createdAt":"${INSTANT}","updatedAt":"${INSTANT}"`;
    insert.run([id, `{"id":${id},${metadata},${line.slice(1)}`]);
    const facts = [price?.amount, price?.currency, brand, attributes?.['colour'], attributes?.['material']];
    for (const one of tags) tag.run([one, id, name, ...facts.map((fact) => fact ?? null)]);
  }
  filled.exec(`COMMIT`);
  process.stdout.write(`${sizeOf(filled)} MB without indexes\n`);
  filled.exec(`${INDEXES}; ANALYZE`);
  process.stdout.write(`${sizeOf(filled)} MB with them\n`);
  filled.close();
  renameSync(part, FILE);
}

function sizeOf(filled: Database.Database): number {
  const number = (name: string) => (filled.prepare(`PRAGMA ${name}`).raw().get() as [number])[0];
  return Math.round((number('page_count') * number('page_size')) / 1e6);
}
