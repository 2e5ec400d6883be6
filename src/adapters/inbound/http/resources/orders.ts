import { ORDER, type Order } from '../../../../domain/order.js';
import type { ResourceDefinition } from '../core/resource-definition.js';
import { fromFieldTable } from './from-field-table.js';

export const ORDERS: ResourceDefinition<Order> = {
  path: 'orders',
  version: 1,
  readScope: 'orders:read',
  writeScope: 'orders:write',
  docs: {
    name: 'Order',
    singular: 'an order',
    plural: 'orders',
    description:
      'Who ordered what. The user and the products must exist when an order first names them. The order stays as it is when they are deleted later.',
    schemaNames: { items: 'OrderItem' },
  },
  ...fromFieldTable(ORDER),
};
