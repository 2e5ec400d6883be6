import { PRODUCT, type Product } from '../../../../domain/product.js';
import type { ResourceDefinition } from '../core/resource-definition.js';
import { fromFieldTable } from './from-field-table.js';

export const PRODUCTS: ResourceDefinition<Product> = {
  path: 'products',
  version: 1,
  readScope: 'products:read',
  writeScope: 'products:write',
  docs: {
    name: 'Product',
    singular: 'a product',
    plural: 'products',
    description:
      'What is for sale. Categories are tags, variants are products of one group, and a product without a status is live.',
    schemaNames: { price: 'Price', images: 'Image', status: 'ProductStatus' },
  },
  ...fromFieldTable(PRODUCT),
};
