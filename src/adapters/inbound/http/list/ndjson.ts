import { jsonLine } from '../../../../shared/json-line.js';
import type { View } from '../query/sparse-fields.js';
import type { LineFormat } from './stream-lines.js';

/** The media type of newline-delimited JSON, in requests and responses. */
export const NDJSON = 'application/x-ndjson';

/** {@link NDJSON} with a charset, like `JSON_TYPE`. */
export const NDJSON_UTF8 = `${NDJSON}; charset=utf-8`;

/** A list as NDJSON: a line for each record. */
export function ndjsonList<Fields>({ toJson }: View<Fields>): LineFormat<Fields> {
  return { contentType: NDJSON, head: '', toText: (record) => jsonLine(toJson(record)) };
}
