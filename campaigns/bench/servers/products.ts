import { readFileSync } from 'node:fs';

/** A product as a client sends it. The bare servers do not validate it. */
export interface Draft {
  readonly [field: string]: unknown;
}

export interface Entry {
  readonly version: number;
  readonly product: Draft & { readonly id: number };
}

/** Products in a Map, for servers that do nothing but serve them. */
export class Products {
  private readonly entries = new Map<number, Entry>();

  /** @param file has one product in JSON on each line */
  constructor(file: string) {
    for (const line of readFileSync(file, 'utf8').trimEnd().split('\n')) this.create(JSON.parse(line));
  }

  find(id: number): Entry | undefined {
    return this.entries.get(id);
  }

  create(draft: Draft): Entry {
    const id = this.entries.size + 1;
    const entry = { version: 1, product: { id, ...draft } };
    this.entries.set(id, entry);
    return entry;
  }

  /** Replaces the given fields. */
  patch(id: number, patch: Draft): Entry | undefined {
    const before = this.entries.get(id);
    if (!before) return undefined;
    const entry = { version: before.version + 1, product: { ...before.product, ...patch, id } };
    this.entries.set(id, entry);
    return entry;
  }

  /** Returns a page and the address of the next one. No product is ever deleted, so ids have no gaps. */
  page(after: number, limit: number): { products: Entry['product'][]; next?: string } {
    const last = Math.min(after + limit, this.entries.size);
    const products = [];
    for (let id = after + 1; id <= last; id++) {
      const entry = this.entries.get(id);
      if (entry) products.push(entry.product);
    }
    const next = `</v1/products?limit=${limit}&cursor=${last}>; rel="next"`;
    return last < this.entries.size ? { products, next } : { products };
  }
}
