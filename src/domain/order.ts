import type { FieldsOf, FieldTable } from './fields.js';

/** An order keeps the ids of its user and products after they are deleted, because it is history. */
export const ORDER = {
  userId: {
    description: 'The user who orders',
    kind: 'reference',
    to: 'users',
    required: true,
    indexed: true,
  },
  items: {
    description: 'What is ordered',
    kind: 'list',
    of: {
      description: 'One product of the order',
      kind: 'object',
      fields: {
        productId: {
          description: 'The product',
          kind: 'reference',
          to: 'products',
          required: true,
        },
        quantity: {
          description: 'How many of it',
          kind: 'integer',
          min: 1,
          max: 1_000_000,
          unit: 'pieces',
          example: 2,
          required: true,
        },
      },
    },
    min: 1,
    max: 100,
    distinct: ['productId'],
    rows: true,
    required: true,
  },
} as const satisfies FieldTable;

export interface Order extends FieldsOf<typeof ORDER> {}
