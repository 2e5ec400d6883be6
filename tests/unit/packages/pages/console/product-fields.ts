import { formFields } from '#packages/pages/console/edit/form-model.js';
import { RowReader } from '#packages/pages/console/transfer/reading.js';
import type { OpenApi } from '#packages/pages/docs/openapi.js';
import { References } from '#packages/pages/docs/references.js';
import { cellsOf } from '#src/shared/record-splitters.js';
import { documentOf } from '../../../../support/openapi/described.js';

/** The fields of a product's form. */
export const PRODUCT_FIELDS = formFields(
  { $ref: '#/components/schemas/ProductInput' },
  new References(documentOf({}) as OpenApi),
);

/** How the API writes CSV. */
export const API_CSV = { encoding: 'utf-8', separator: ',' } as const;

/** Reads CSV that the API could take as it is. */
export function plainRows(header: string): RowReader {
  const names = (cellsOf(header) ?? []).map((name = '') => name);
  return new RowReader({ ...API_CSV, numbers: 'plain', columns: names, currency: '' }, names, () => 'text');
}
