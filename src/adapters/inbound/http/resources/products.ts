import Joi from 'joi';
import {
  AMOUNT,
  CURRENCY,
  DESCRIPTION,
  PRODUCT_FIELDS,
  type Product,
  SKU,
} from '../../../../domain/product.js';
import type { Versioned } from '../../../../domain/record.js';
import { NAME } from '../../../../domain/text.js';
import { attributes, integer, text } from '../bodies/schema.js';
import type { ResourceDescription } from '../resource-description.js';

export const PRODUCTS: ResourceDescription<Product> = {
  path: 'products',
  version: 1,
  readScope: 'products:read',
  writeScope: 'products:write',
  words: {
    name: 'Product',
    one: 'a product',
    many: 'products',
    about: 'What is for sale. Lists can be filtered by name, SKU, price and your own attributes.',
    example: {
      name: 'Desk lamp',
      description: 'Brass, with a shade of linen.',
      sku: 'LAMP-1',
      price: { amount: 4990, currency: 'EUR' },
      attributes: { colour: 'green', watts: 7.5, dimmable: true },
    },
  },
  fields: PRODUCT_FIELDS,
  schema: Joi.object({
    name: text(NAME).required(),
    description: text(DESCRIPTION),
    sku: text(SKU),
    price: Joi.object({
      amount: integer(AMOUNT).required(),
      currency: Joi.string().pattern(CURRENCY).required(),
    }),
    attributes: attributes(),
  }),
  present: ({ id, fields: { name, description, sku, price, attributes } }: Versioned<Product>) => ({
    id,
    name,
    description,
    sku,
    price: price && { amount: price.amount, currency: price.currency },
    attributes,
  }),
};
