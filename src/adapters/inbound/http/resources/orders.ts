import Joi from 'joi';
import {
  ITEMS,
  ORDER_FIELDS,
  type Order,
  QUANTITY,
  REFERENCE,
  repeatedProducts,
} from '../../../../domain/order.js';
import type { Versioned } from '../../../../domain/record.js';
import { integer, list } from '../bodies/schema.js';
import type { ResourceDescription } from '../resource-description.js';

const ITEM = Joi.object({
  productId: integer(REFERENCE).required(),
  quantity: integer(QUANTITY).required(),
});

export const ORDERS: ResourceDescription<Order> = {
  path: 'orders',
  version: 1,
  readScope: 'orders:read',
  writeScope: 'orders:write',
  words: {
    name: 'Order',
    one: 'an order',
    many: 'orders',
    about:
      'Who ordered what. The user and the products must exist when an order first names them. The order stays as it is when they are deleted later.',
    example: { userId: 1, items: [{ productId: 1, quantity: 2 }] },
  },
  fields: ORDER_FIELDS,
  schema: Joi.object({
    userId: integer(REFERENCE).required(),
    items: list(ITEM, ITEMS, repeatedProducts).required(),
  }),
  present: ({ id, fields: { userId, items } }: Versioned<Order>) => ({
    id,
    userId,
    items: items.map(({ productId, quantity }) => ({ productId, quantity })),
  }),
};
