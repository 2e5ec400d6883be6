import { type Fault, fieldFault } from './errors.js';
import type { FieldSet } from './fields.js';
import { type Id, MAX_ID, type Unjudged } from './record.js';

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

export const ORDER_FIELDS = {
  userId: { type: 'integer', required: true, reference: true },
} satisfies FieldSet;

export const REFERENCE = { min: 1, max: MAX_ID } as const;
export const ITEMS = { min: 1, max: 100 } as const;
export const QUANTITY = { min: 1, max: 1_000_000 } as const;

/** Far beyond what is allowed nobody reads what else is wrong with each. */
const MAX_JUDGED = 1_000;

type Path = readonly (string | number)[];

/** A record of another resource that an order names, and where. */
export interface Reference {
  readonly id: Id;
  readonly path: Path;
}

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
    ...repeatedProducts(items).map((path) => fieldFault('duplicate_value', ['items', ...path])),
  ];
}

/** Where an item names a product that one before it names. Judges values of any type, so that the edge can ask it. */
export function repeatedProducts(items: readonly unknown[]): Path[] {
  const seen = new Set<Id>();
  return products(items).flatMap(({ id, path }) => {
    if (seen.has(id)) return [path];
    seen.add(id);
    return [];
  });
}

/** The users that an order names, as far as what was sent is well formed. */
export function userReferences({ userId }: Unjudged<Order>): Reference[] {
  return isReference(userId) ? [{ id: userId, path: ['userId'] }] : [];
}

/** The products that an order names, as far as what was sent is well formed. */
export function productReferences({ items }: Unjudged<Order>): Reference[] {
  if (!Array.isArray(items)) return [];
  return products(items).map(({ id, path }) => ({ id, path: ['items', ...path] }));
}

function products(items: readonly unknown[]): Reference[] {
  return items.slice(0, MAX_JUDGED).flatMap((item, at) => {
    const id = (item as Unjudged<OrderItem> | null | undefined)?.productId;
    return isReference(id) ? [{ id, path: [at, 'productId'] }] : [];
  });
}

function isReference(value: unknown): value is Id {
  return typeof value === 'number' && isWithin(value, REFERENCE);
}

interface Bounds {
  readonly min: number;
  readonly max: number;
}

function integerFaults(path: Path, value: number, bounds: Bounds): Fault[] {
  return isWithin(value, bounds) ? [] : [fieldFault('out_of_range', path)];
}

function isWithin(value: number, { min, max }: Bounds): boolean {
  return Number.isSafeInteger(value) && value >= min && value <= max;
}
