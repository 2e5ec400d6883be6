import { isDeepStrictEqual } from 'node:util';
import type { HttpClient } from '../../tests/support/http-client.js';
import type { ResultLine } from '../../tests/support/line-stream.js';
import type { RealProduct } from './debian-packages.js';
import { importProducts } from './import-products.js';

type Packaged = RealProduct & { readonly attributes: { readonly packaging: number } };

interface Known {
  readonly id: number;
  readonly version: number;
  readonly product: Packaged;
}

/** A catalogue that is imported by SKU night after night, and what each line has to do to it. */
export class NightlyCatalogue {
  private readonly known = new Map<string, Known>();

  constructor(
    private readonly products: readonly RealProduct[],
    private readonly memory: () => string,
    private readonly print: (line: string) => void,
  ) {}

  /**
   * Imports all products, and checks every result and then every record.
   * @param packagingOf a number that is part of the product at this place of the file
   */
  async import(client: HttpClient, night: string, packagingOf: (at: number) => number): Promise<void> {
    const lines = this.products.map(
      (product, at): Packaged => ({ ...product, attributes: { packaging: packagingOf(at) } }),
    );
    const started = performance.now();
    const results = await importProducts(client, lines, { query: '?match=sku' });
    const seconds = (performance.now() - started) / 1000;
    const outcomes = new Map<string, number>();
    for (const [at, line] of lines.entries()) {
      const outcome = this.expectResult(line, results[at]);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    this.print(
      `${night}: ${lines.length} lines by SKU, ${JSON.stringify(Object.fromEntries(outcomes))}, ` +
        `in ${seconds.toFixed(1)} s: ${Math.round(lines.length / seconds)} a second, ${this.memory()}`,
    );
    await this.expectRecords(client);
  }

  /** Lines act in their order, and the file has several of some SKUs. @returns the outcome in a word */
  private expectResult(product: Packaged, { line, ...result }: ResultLine): string {
    const { sku } = product;
    if (sku === undefined) {
      const [detail] = result.error?.details ?? [];
      if (result.status === 400 && detail.code === 'required' && detail.pointer === '/sku') return 'refused';
      throw new Error(`line ${line} has no SKU, and ${JSON.stringify(result)}`);
    }
    const known = this.known.get(sku);
    const isSame = known !== undefined && isDeepStrictEqual(known.product, product);
    const expected = {
      status: known ? 200 : 201,
      id: known?.id ?? result.id,
      version: known ? known.version + (isSame ? 0 : 1) : 1,
      ...(isSame && { unchanged: true }),
    };
    if (!isDeepStrictEqual(result, expected))
      throw new Error(`line ${line}: ${JSON.stringify(result)} instead of ${JSON.stringify(expected)}`);
    this.known.set(sku, { id: expected.id, version: expected.version, product });
    return known ? (isSame ? 'unchanged' : 'changed') : 'created';
  }

  /** The records are those of the file, each with its version. */
  private async expectRecords(client: HttpClient): Promise<void> {
    const response = await client.get('/v1/products?fields=id,version,name,sku,description,attributes', {
      headers: { Accept: 'application/x-ndjson' },
    });
    const records = response.text.split('\n').slice(0, -1);
    if (records.length !== this.known.size)
      throw new Error(`there are ${records.length} records of ${this.known.size} SKUs`);
    for (const line of records) {
      const { id, version, ...product } = JSON.parse(line);
      if (!isDeepStrictEqual({ id, version, product }, this.known.get(product.sku)))
        throw new Error(`product ${id} is not that of the file: ${line}`);
    }
    this.print(`${records.length} records, each as in the file`);
  }
}
