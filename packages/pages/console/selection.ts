import { useState } from 'preact/hooks';

interface Selected {
  /** On all pages of the list. */
  readonly ids: ReadonlySet<number>;
  /** Whether the person selected all records that match. */
  readonly areAll: boolean;
  /** Why the last change left records as they were. */
  readonly reasons: ReadonlyMap<number, string>;
}

/** The records of a list that the person has selected. */
export interface Selection extends Selected {
  toggle(ids: readonly number[], isSelected: boolean): void;
  /** Selects these records and no others. */
  replace(ids: Iterable<number>, details?: Partial<Omit<Selected, 'ids'>>): void;
}

const NONE: Selected = { ids: new Set(), areAll: false, reasons: new Map() };

/** What was selected last, and where. A person who looks at a record comes back to it. */
let last = { list: '', ...NONE };

/** @param list what the list shows apart from its page and order; in any other list nothing is selected */
export function useSelection(list: string): Selection {
  const [, update] = useState(last);
  const selected = last.list === list ? last : { list, ...NONE };
  const set = (next: Partial<Selected>) => {
    last = { ...selected, ...next };
    update(last);
  };
  return {
    ...selected,
    toggle(ids, isSelected) {
      const next = new Set(selected.ids);
      for (const id of ids) isSelected ? next.add(id) : next.delete(id);
      set({ ids: next });
    },
    replace: (ids, details) => set({ ...NONE, ...details, ids: new Set(ids) }),
  };
}

/** The ids from one to another in the order of the page, as a click with Shift selects them. */
export function rangeOf(ids: readonly number[], one: number, other: number): readonly number[] {
  const [from = 0, to = 0] = [ids.indexOf(one), ids.indexOf(other)].sort((a, b) => a - b);
  return from < 0 ? [other] : ids.slice(from, to + 1);
}
