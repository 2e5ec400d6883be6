import { type ListPage, type ListQuery, MAX_PAGE_BYTES } from '../../../application/list-query.js';
import type { Repository } from '../../../application/ports/repository.js';
import { duplicateValue } from '../../../domain/errors.js';
import type { Id, Versioned } from '../../../domain/record.js';

export interface MemoryTable<Fields> {
  /** The fields whose value no two records share. */
  readonly unique: readonly (keyof Fields & string)[];
  /** The first id that may be reserved. */
  readonly firstId: Id;
}

/** Forgets everything when the process ends. */
export class MemoryRepository<Fields> implements Repository<Fields> {
  private readonly records = new Map<Id, Versioned<Fields>>();
  private readonly tombstones = new Set<Id>();
  /** The ids of `records`, ascending. */
  private readonly order: Id[] = [];
  private nextId: Id;

  constructor(private readonly table: MemoryTable<Fields>) {
    this.nextId = table.firstId;
  }

  async reserveIds(count: number): Promise<Id> {
    const first = this.nextId;
    this.nextId += count;
    return first;
  }

  async releaseIds(first: Id, end: Id): Promise<void> {
    if (this.nextId === end) this.nextId = first;
  }

  async insert(record: Versioned<Fields>): Promise<boolean> {
    if (this.records.has(record.id) || this.tombstones.has(record.id)) return false;
    this.refuseDuplicates(record);
    this.records.set(record.id, structuredClone(record));
    this.order.splice(this.firstAtOrAfter(record.id), 0, record.id);
    return true;
  }

  async find(id: Id): Promise<Versioned<Fields> | undefined> {
    return structuredClone(this.records.get(id));
  }

  async findByUnique(field: keyof Fields & string, value: string): Promise<Versioned<Fields> | undefined> {
    for (const record of this.records.values()) {
      if (record.fields[field] === value) return structuredClone(record);
    }
    return undefined;
  }

  async list({ limit, from }: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    const backwards = from?.side === 'before';
    const start = from ? this.firstAtOrAfter(backwards ? from.id : from.id + 1) : 0;
    const records: Versioned<Fields>[] = [];
    let bytes = 0;
    const step = backwards ? -1 : 1;
    let at = backwards ? start - 1 : start;
    for (; at in this.order && records.length < limit && bytes < MAX_PAGE_BYTES; at += step) {
      const record = this.records.get(this.order[at] ?? 0);
      if (!record) continue;
      records.push(structuredClone(record));
      bytes += JSON.stringify(record).length;
    }
    return { records: backwards ? records.reverse() : records, hasMore: at in this.order };
  }

  async replace(record: Versioned<Fields>, expected: number): Promise<boolean> {
    if (this.records.get(record.id)?.version !== expected) return false;
    this.refuseDuplicates(record);
    this.records.set(record.id, structuredClone(record));
    return true;
  }

  async remove(id: Id, expected: number): Promise<boolean> {
    if (this.records.get(id)?.version !== expected) return false;
    this.records.delete(id);
    this.order.splice(this.firstAtOrAfter(id), 1);
    this.tombstones.add(id);
    return true;
  }

  /** Binary search. */
  private firstAtOrAfter(id: Id): number {
    let low = 0;
    let high = this.order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.order[middle] ?? id) < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private refuseDuplicates(record: Versioned<Fields>): void {
    for (const field of this.table.unique) {
      const value = record.fields[field];
      if (value === undefined) continue;
      for (const other of this.records.values()) {
        if (other.id !== record.id && other.fields[field] === value) throw duplicateValue(field);
      }
    }
  }
}
