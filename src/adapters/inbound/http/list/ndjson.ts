import type { Versioned } from '../../../../domain/record.js';
import { jsonLine } from '../../../../shared/json.js';
import { NDJSON } from '../core/media-types.js';
import type { FieldSelection } from '../query/field-selection.js';
import type { LineFormat } from './stream-lines.js';

/** A list as NDJSON: a line for each record. */
export function ndjsonList<Fields>({ toJson }: FieldSelection<Fields>): LineFormat<Versioned<Fields>> {
  return { contentType: NDJSON, head: '', toText: (record) => jsonLine(toJson(record)) };
}
