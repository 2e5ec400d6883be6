import type { Filter, ListQuery } from '../../../../application/list-query.js';
import { type Fault, jsonPointer } from '../../../../domain/errors.js';

/** What one version of a resource calls otherwise than it is kept; a field inside another is named with a dot. */
export class FieldNames {
  private readonly kept: ReadonlyMap<string, string>;
  private readonly renamed: readonly (readonly [kept: string, shown: string])[];

  /** @param names its own names, each with the one that is kept */
  constructor(names: Readonly<Record<string, string>>) {
    this.kept = new Map(Object.entries(names));
    this.renamed = [...this.kept].map(([shown, kept]) => [kept, shown]);
  }

  query(query: ListQuery): ListQuery {
    const order = query.order.map((key) => this.inKept(key));
    return { ...query, filters: this.filters(query.filters), order };
  }

  filters(filters: readonly Filter[]): Filter[] {
    return filters.map((filter) => this.inKept(filter));
  }

  /** What is told of a field that is kept, told of the one that is shown. */
  fault(fault: Fault): Fault {
    if (fault.in !== 'body') return fault;
    for (const [kept, shown] of this.renamed) {
      const [from, to] = [kept, shown].map((name) => jsonPointer(name.split('.'))) as [string, string];
      if (fault.pointer !== from && !fault.pointer.startsWith(`${from}/`)) continue;
      const pointer = to + fault.pointer.slice(from.length);
      return { ...fault, message: fault.message.replace(kept, shown), pointer };
    }
    return fault;
  }

  private inKept<Named extends { readonly field: string }>(named: Named): Named {
    return { ...named, field: this.kept.get(named.field) ?? named.field };
  }
}
