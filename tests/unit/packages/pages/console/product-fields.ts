import { formFields } from '#packages/pages/console/edit/form-model.js';
import type { OpenApi } from '#packages/pages/docs/openapi.js';
import { References } from '#packages/pages/docs/references.js';
import { documentOf } from '../../../../support/openapi/described.js';

/** The fields of a product's form. */
export const PRODUCT_FIELDS = formFields(
  { $ref: '#/components/schemas/ProductInput' },
  new References(documentOf({}) as OpenApi),
);
