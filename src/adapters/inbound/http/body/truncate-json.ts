import { isJsonObject } from '../../../../application/patch/merge-patch.js';
import { hasMoreValues } from '../../../../shared/canonical-json.js';

/**
 * The document itself if it has at most `count` values, else a copy of about its first `count` values in the order of
 * writing. An array or object that has elements keeps at least one.
 */
export function truncateJson(document: unknown, count: number): { value: unknown; isWhole: boolean } {
  if (!hasMoreValues(document, count)) return { value: document, isWhole: true };
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
