import { ERRORS } from '#src/adapters/inbound/http/core/error-codes.js';
import type { ResourceDefinition } from '#src/adapters/inbound/http/core/resource-definition.js';
import { LINKS } from '#src/adapters/inbound/http/pages/pages.js';
import { DERIVED_INDEX, WORDS_INDEX } from '#src/adapters/outbound/mongo/documents.js';
import { recordIndexes } from '#src/adapters/outbound/mongo/indexes.js';
import type { StoredTable } from '#src/application/ports/table-store.js';
import { collectionPaths, DEFINITIONS } from '#src/composition/resources.js';
import { RESOURCE_TABLES, TABLES } from '#src/composition/tables.js';
import { type Field, sortableFields } from '#src/domain/fields.js';

/** The pages with generated blocks, from the root of the project, and the names of these blocks. */
export const PAGES_WITH_TABLES: Readonly<Record<string, readonly string[]>> = {
  'docs/reference/api.md': ['fields', 'scopes', 'searched', 'root', 'errors'],
  'docs/how-to/mongodb.md': ['collections'],
};

const RESOURCES = Object.values<ResourceDefinition<never>>(DEFINITIONS as never);

/** The Markdown of each block, generated from the tables that the service uses. */
const BLOCKS: Readonly<Record<string, () => string>> = {
  fields: () => table(['collection', 'fields', 'filter', 'sort', 'facet', 'only `.exists`'], RESOURCES.map(fieldsOf)),
  scopes: () => table(['collection', 'GET, HEAD', 'POST, PUT, DELETE', 'PATCH'], RESOURCES.map(scopesOf)),
  searched: () =>
    table(['collection', 'searched'], RESOURCES.filter(({ isSearchable }) => isSearchable).map(searchedOf)),
  root: () => `\`\`\`http\n${ROOT}\n\`\`\``,
  errors: () => table(['status', 'codes'], errorCodes()),
  collections: () => table(['collection', 'content', 'indexes in addition to `_id`'], collections()),
};

/** The response of `/`. */
const ROOT = `HTTP/1.1 200 OK
Content-Type: application/json
Cache-Control: no-cache

${JSON.stringify({ ...collectionPaths(), ...LINKS }, null, 2)}`;

const BLOCK = /(<!-- generated: (\w+) -->\n).*?(<!-- end of generated -->)/gs;

/** Returns the page with each of its blocks as `npm run docs` writes it. */
export function withTables(page: string): string {
  return page.replaceAll(
    BLOCK,
    (_, start: string, name: string, end: string) => `${start}\n${BLOCKS[name]?.() ?? ''}\n\n${end}`,
  );
}

/** The names of the blocks of a page. */
export function blocksOf(page: string): string[] {
  return [...page.matchAll(BLOCK)].map(([, , name = '']) => name);
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [heads, ...rows].map(
    (cells) => `|${cells.map((cell) => (cell ? ` ${cell.replaceAll('|', '\\|')} ` : ' ')).join('|')}|`,
  );
  return lines.toSpliced(1, 0, `|${heads.map(() => '---|').join('')}`).join('\n');
}

function errorCodes(): string[][] {
  const errors = Object.entries(ERRORS);
  const statuses = [...new Set(errors.map(([, { status }]) => status))].sort();
  return statuses.map((status) => {
    const names = errors.filter(([, error]) => error.status === status).map(([name]) => code(name));
    return [String(status), names.join(', ')];
  });
}

function fieldsOf({ docs, table: fields, fields: indexed, readOnlyFields = {} }: ResourceDefinition<never>): string[] {
  const names = Object.entries(fields).map(([name, field]) => `${code(name)}${traitsOf(field)}`);
  const uses = Object.keys(indexed).filter((name) => !COMMON.has(name));
  const listed = (isUse: (name: string) => boolean) => uses.filter(isUse).map(code).join(', ');
  return [
    docs.plural,
    [...names, ...Object.keys(readOnlyFields).map((name) => `${code(name)} (read-only)`)].join(', '),
    listed((name) => indexed[name]?.type !== 'presence'),
    listed((name) => sortableFields(indexed).includes(name)),
    listed((name) => indexed[name]?.faceted === true),
    listed((name) => indexed[name]?.type === 'presence'),
  ];
}

/** Fields of every record, which the page describes itself. */
const COMMON: ReadonlySet<string> = new Set(['id', 'version', 'createdAt', 'updatedAt']);

/** What a reader needs to know of a field in addition to its rule. */
function traitsOf(field: Field): string {
  const unique = field.unique && (field.ignoresCase ? 'unique, ignoring case' : 'unique');
  const traits = [field.required && 'required', unique].filter(Boolean);
  return traits.length > 0 ? ` (${traits.join(', ')})` : '';
}

function scopesOf({ version, path, docs, readScope, writeScope }: ResourceDefinition<never>): string[] {
  const patch = readScope === writeScope ? '' : `${code(writeScope)} and ${code(readScope)}`;
  return [`${code(`/v${version}/${path}`)}: ${docs.plural}`, code(readScope), code(writeScope), patch];
}

function searchedOf({ docs, table: fields }: ResourceDefinition<never>): string[] {
  const names = Object.entries(fields).map(
    ([name, { kind, searched }]) =>
      searched && (kind === 'attributes' ? `the values of ${code(name)} that are strings` : code(name)),
  );
  return [docs.plural, names.filter(Boolean).join(', ')];
}

function collections(): string[][] {
  const records = TABLES.map((one) => [code(one.name), contentOf(one), indexesOf(one)]);
  const reservations = RESOURCE_TABLES.map(({ name }) => code(`${name}_reservations`)).join(', ');
  return [
    ...records,
    [
      '`api_key_usage`',
      'counts of requests by key and hour',
      '`keyId_hour`; `ttl_hour`: `{hour: 1}`, sparse, `expireAfterSeconds` 93600',
    ],
    [
      reservations,
      'reservations of idempotency keys: `{_id: KEY, fingerprint, id, reservedAt, fields?}`; the key is a digest',
      '`ttl_reservedAt`: `{reservedAt: 1}`, sparse, `expireAfterSeconds` 90000',
    ],
    [
      TABLES.filter(({ hasFeed }) => hasFeed)
        .map(({ name }) => code(`${name}_changes`))
        .join(', '),
      'the log of changes: `{_id: 0, epoch, floor}` while it is written, and entries `{_id: NUMBER, id, at}`',
      'none',
    ],
    ['`counters`', 'how many ids of a collection are allocated; the generation of the store, if it has one', 'none'],
  ];
}

function contentOf({ name }: StoredTable): string {
  return name === TABLES[0]?.name
    ? 'records; for deleted ones a tombstone `{_id, version, updatedAt, deletedAt}`'
    : 'the same';
}

function indexesOf(one: StoredTable): string {
  const indexes = recordIndexes(one);
  const names = indexes.filter(({ unique }) => !unique).map(({ name = '' }) => name);
  const own: string[] = [WORDS_INDEX.name, DERIVED_INDEX.name];
  const more = names.filter((name) => own.includes(name) || /^live_.+_-createdAt$/.test(name));
  const listed = names.filter((name) => !more.includes(name) && !name.startsWith('live_-'));
  const fields = listed.map((name) => (name === 'live' ? 'id' : code(name.replace('live_', ''))));
  const unique = indexes.filter((index) => index.unique).map(({ key }) => code(Object.keys(key).join(', ')));
  if (one.tombstones === 'expire') more.push('ttl_deletedAt');
  if (one.hasFeed) more.push('pending');
  return [
    `list: ${fields.join(', ')}`,
    ...(unique.length > 0 ? [`unique: ${unique.join(', ')}`] : []),
    ...more.map(code),
  ].join('; ');
}

function code(text: string): string {
  return `\`${text}\``;
}
