import { isJsonObject } from '../../../../application/patch/merge-patch.js';

/**
 * A copy of a JSON document up to about its `count`th value, in the order of writing. No array or object in it is empty
 * that was not.
 */
export function firstValues(document: unknown, count: number): { value: unknown; isWhole: boolean } {
  let left = count;
  let isWhole = true;

  const some = <Item, Copy>(items: readonly Item[], copied: (item: Item) => Copy): Copy[] => {
    const copies: Copy[] = [];
    for (const item of items) {
      if (left <= 0 && copies.length > 0) {
        isWhole = false;
        break;
      }
      copies.push(copied(item));
    }
    return copies;
  };

  const copy = (value: unknown): unknown => {
    left--;
    if (Array.isArray(value)) return some(value, copy);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(some(Object.keys(value), (name) => [name, copy(value[name])]));
  };

  return { value: copy(document), isWhole };
}
