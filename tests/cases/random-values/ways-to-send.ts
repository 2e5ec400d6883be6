import type { HttpClient, HttpResponse } from '../../support/http-client.js';
import type { BadRecords, BadValue, Issue } from '../../support/invalid-values.js';
import { CSV, JSON_PATCH, MERGE_PATCH, NDJSON, ofType } from './media-types.js';
import { objectOf } from './random-records.js';

type Way = readonly [
  way: string,
  request: (client: HttpClient, path: string) => Promise<HttpResponse>,
  issues: readonly Issue[],
];

let numbers = 0;

/** The requests that would store a bad value. A merge patch with null removes a member instead. */
export function waysToSend({ plural, valid }: BadRecords, { member, json, issues }: BadValue): Way[] {
  const members = { ...valid, [member]: json };
  const whole = () => objectOf(members).replace('NUMBER', String(++numbers));
  const name = JSON.stringify(member);
  const pointer = JSON.stringify(`/${member.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  const patch = `[{"op":"add","path":${pointer},"value":${json}}]`;
  const ways: Way[] = [
    ['POST', (client, path) => client.post(path, whole()), issues],
    ['PUT', (client, path) => client.put(`${path}/1`, whole()), issues],
    ['JSON patch', (client, path) => client.patch(`${path}/1`, patch, ofType(JSON_PATCH)), issues],
    ['NDJSON', (client, path) => client.post(`${path}/imports`, `${whole()}\n`, ofType(NDJSON)), issues],
  ];
  if (!json.includes('null'))
    ways.push([
      'merge patch',
      (client, path) => client.patch(`${path}/1`, `{${name}:${json}}`, ofType(MERGE_PATCH)),
      issues,
    ]);
  const cells = plural === 'orders' ? undefined : cellsOf(member, json);
  if (cells) {
    const columns = {
      ...(member !== 'name' && { name: '"x"' }),
      ...(plural === 'users' && member !== 'email' && { email: `"csv-${++numbers}@example.com"` }),
      ...cells,
    };
    const csv = `${Object.keys(columns).join()}\r\n${Object.values(columns).join()}\r\n`;
    // An integer is digits alone.
    const integer = cells['price.amount'] ?? cells['stock'] ?? '0';
    const isPlain = /^-?(?:0|[1-9]\d*)$/.test(integer);
    const ofInteger: Issue = ['invalid_type', member === 'stock' ? '/stock' : '/price/amount'];
    const all = isPlain ? issues : [ofInteger, ...issues.filter(([, at]) => at !== ofInteger[1])];
    ways.push(['CSV', (client, path) => client.post(`${path}/imports`, csv, ofType(CSV)), all]);
  }
  return ways;
}

/** White space that a cell does not keep around a tag. */
export const BLANK_AROUND = /^[ \t\u00a0]|[ \t\u00a0]$/;

const TEXTS = ['name', 'description', 'sku', 'email', 'status', 'url', 'brand', 'gtin', 'group'];

/** The cells of a bad value, if CSV can express it and a cell of that column cannot be valid. */
function cellsOf(member: string, json: string): Record<string, string> | undefined {
  if (/\\ud|\\ude|e400|null/i.test(json)) return undefined;
  const value = JSON.parse(json);
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const isText = typeof value === 'string';
  if (TEXTS.includes(member)) return isText ? { [member]: quoted(value) } : undefined;
  if (member === 'attributes' || member === 'images') return { [member]: quoted(json) };
  if (member === 'stock') return typeof value === 'number' ? { stock: json } : undefined;
  if (member === 'tags') {
    // A tag with the separator in it is two tags, and white space around it is no part of it.
    const isWritable =
      Array.isArray(value) &&
      value.every((tag) => typeof tag === 'string' && !tag.includes('|') && !BLANK_AROUND.test(tag));
    return isWritable && value.length > 0 ? { tags: quoted(value.join('|')) } : undefined;
  }
  if (member !== 'price') return undefined;
  const { amount, currency } = value;
  const isWritable = typeof amount === 'number' && typeof currency === 'string' && Object.keys(value).length === 2;
  const written = /"amount":([^,]+)/.exec(json)?.[1] ?? '';
  return isWritable ? { 'price.amount': written, 'price.currency': quoted(currency) } : undefined;
}
