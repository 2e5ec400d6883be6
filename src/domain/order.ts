import { type Fault, fieldFault } from './errors.js';
import type { FieldSet } from './fields.js';
import { type Id, MAX_ID } from './record.js';

export interface OrderItem {
  readonly productId: Id;
  readonly quantity: number;
}

/** History: it stays as it is when the user or a product that it names is deleted. */
export interface Order {
  readonly userId: Id;
  /** Of distinct products. */
  readonly items: readonly OrderItem[];
}

export const ORDER_FIELDS = { userId: { type: 'integer', required: true } } satisfies FieldSet;

export const REFERENCE = { min: 1, max: MAX_ID } as const;
export const ITEMS = { min: 1, max: 100 } as const;
export const QUANTITY = { min: 1, max: 1_000_000 } as const;

/** What holds of an order whoever made it; an empty answer means that all does. Whether what it names exists is not asked. */
export function orderFaults({ userId, items }: Order): Fault[] {
  return [
    ...integerFaults(['userId'], userId, REFERENCE),
    ...(items.length < ITEMS.min ? [fieldFault('too_short', ['items'])] : []),
    ...(items.length > ITEMS.max ? [fieldFault('too_long', ['items'])] : []),
    ...items.flatMap(({ productId, quantity }, at) => [
      ...integerFaults(['items', at, 'productId'], productId, REFERENCE),
      ...integerFaults(['items', at, 'quantity'], quantity, QUANTITY),
    ]),
    ...repeatedProducts(items).map((at) => fieldFault('duplicate_value', ['items', at, 'productId'])),
  ];
}

/** Where an item names a product that one before it names. Judges values of any type, so that the edge can ask it. */
export function repeatedProducts(items: readonly unknown[]): number[] {
  const seen = new Set<unknown>();
  return items.flatMap((item, at) => {
    const productId = (item as Partial<OrderItem> | null)?.productId;
    if (productId === undefined || !seen.has(productId)) {
      seen.add(productId);
      return [];
    }
    return [at];
  });
}

function integerFaults(
  path: (string | number)[],
  value: number,
  bounds: { readonly min: number; readonly max: number },
): Fault[] {
  const isWithin = Number.isSafeInteger(value) && value >= bounds.min && value <= bounds.max;
  return isWithin ? [] : [fieldFault('out_of_range', path)];
}
