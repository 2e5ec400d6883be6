import type { ResourceDefinition } from '#src/adapters/inbound/http/core/resource-definition.js';
import { recordIndexes } from '#src/adapters/outbound/mongo/indexes.js';
import type { StoredTable } from '#src/application/ports/table-store.js';
import { DEFINITIONS } from '#src/composition/resources.js';
import { RESOURCE_TABLES, TABLES } from '#src/composition/tables.js';
import { type Field, type FieldSpecs, type FieldTable, sortableFields } from '#src/domain/fields.js';
import { descriptionOf } from '#src/domain/rules.js';

/** The pages with generated blocks, from the root of the project, and the names of these blocks. */
export const PAGES_WITH_TABLES: Readonly<Record<string, readonly string[]>> = {
  'docs/reference/api.md': ['fields', 'scopes', 'searched'],
  'docs/how-to/mongodb.md': ['collections'],
};

const RESOURCES = Object.values<ResourceDefinition<never>>(DEFINITIONS as never);

/** The Markdown of each block, generated from the tables that the service uses. */
const BLOCKS: Readonly<Record<string, () => string>> = {
  fields: () => RESOURCES.map(fieldsOf).join('\n\n'),
  scopes: () => table(['collection', 'GET, HEAD', 'POST, PUT, DELETE', 'PATCH'], RESOURCES.map(scopesOf)),
  searched: () =>
    table(['collection', 'searched'], RESOURCES.filter(({ isSearchable }) => isSearchable).map(searchedOf)),
  collections: () => table(['collection', 'content', 'indexes in addition to `_id`'], collections()),
};

const BLOCK = /(<!-- generated: (\w+) -->\n).*?(<!-- end of generated -->)/gs;

/** Returns the page with each of its blocks as `npm run docs:tables` writes it. */
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

function fieldsOf({
  docs,
  table: fields,
  fields: indexed,
  readOnlyFields = {},
}: ResourceDefinition<never>): string {
  const rows = rowsOf(fields, '', (name) => useInLists(name, indexed));
  const readOnly = Object.entries(readOnlyFields).map(([name, { description }]) => [
    code(name),
    `Set by the service. ${description}`,
    useInLists(name, indexed),
  ]);
  return `### The fields of ${docs.plural}\n\n${table(['field', 'rule', 'in lists'], [...rows, ...readOnly])}`;
}

/** What lists do with a field. */
function useInLists(name: string, fields: FieldSpecs): string {
  const spec = fields[name];
  if (!spec) return '';
  if (spec.type === 'presence') return '`.exists`';
  const uses = ['filter', sortableFields(fields).includes(name) && 'sort', spec.faceted && 'facet'];
  return uses.filter(Boolean).join(', ');
}

function rowsOf(fields: FieldTable, around: string, listsOf: (name: string) => string): string[][] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const own = around + name;
    const element = field.kind === 'list' ? field.of : field;
    const inside = element.kind === 'object' ? rowsOf(element.fields, `${own}.`, listsOf) : [];
    return [[code(own), `${traitsOf(field, around !== '')}${descriptionOf(field)}`, listsOf(own)], ...inside];
  });
}

/** What a reader needs to know of a field before its rule. */
function traitsOf(field: Field, isInside: boolean): string {
  const traits = [
    field.required && (isInside ? '**required** inside' : '**required**'),
    field.unique && (field.ignoresCase ? '**unique**, ignoring case' : '**unique**'),
    field.kind === 'text' && field.min > 0 && 'not empty',
  ];
  const found = traits.filter((trait) => trait);
  return found.length > 0 ? `${found.join('; ')}. ` : '';
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
    [
      '`counters`',
      'how many ids of a collection are allocated; the generation of the store, if it has one',
      'none',
    ],
  ];
}

function contentOf({ name }: StoredTable): string {
  return name === TABLES[0]?.name
    ? 'records; for deleted ones a tombstone `{_id, version, updatedAt, deletedAt}`'
    : 'the same';
}

function indexesOf(one: StoredTable): string {
  const { indexes } = recordIndexes(one);
  const names = indexes.filter(({ unique }) => !unique).map(({ name = '' }) => name);
  const more = names.filter((name) => name === 'live_words' || /^live_.+_-createdAt$/.test(name));
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
