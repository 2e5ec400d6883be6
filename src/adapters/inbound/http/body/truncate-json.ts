import { isJsonObject } from '../../../../application/patch/merge-patch.js';
import { hasMoreValues } from '../../../../shared/json.js';

/**
 * The document itself if it has at most `count` values, else a copy of about its first `count` values. A non-empty
 * array or object keeps at least one element.
 */
export function truncateJson(document: unknown, count: number): { value: unknown; isWhole: boolean } {
  if (!hasMoreValues(document, count)) return { value: document, isWhole: true };
  let remaining = count;
  let isWhole = true;

  const copyUntilLimit = <Item, Copy>(items: readonly Item[], copyItem: (item: Item) => Copy): Copy[] => {
    const copies: Copy[] = [];
    for (const item of items) {
      if (remaining <= 0 && copies.length > 0) {
        isWhole = false;
        break;
      }
      copies.push(copyItem(item));
    }
    return copies;
  };

  const copy = (value: unknown): unknown => {
    remaining--;
    if (Array.isArray(value)) return copyUntilLimit(value, copy);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(copyUntilLimit(Object.keys(value), (name) => [name, copy(value[name])]));
  };

  return { value: copy(document), isWhole };
}
