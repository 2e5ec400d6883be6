import type { Repository } from '#src/application/ports/repository.js';
import { DryRunRepository } from '#src/application/records/dry-run-repository.js';
import { AppError } from '#src/domain/errors.js';
import type { Product } from '#src/domain/product.js';
import { ByteQuota } from '#src/shared/byte-quota.js';
import { PRODUCTS } from './tables.js';

/*
 * A program that fills the dry runs of several clients until they are refused, and prints the errors. It lives only if
 * what is counted is what is held: node --max-old-space-size=MIB fill-dry-runs.js BYTES_OF_A_CLIENT BYTES_OF_ALL KIND
 */

const [perClient = 0, total = 0] = process.argv.slice(2, 4).map(Number);

let made = 0;

/** As the readers of lines make them. */
const KINDS: Readonly<Record<string, () => Product>> = {
  'names of their own': () => {
    const attributes = Array.from({ length: 50 }, () => `"${(1_000_000 + made++).toString(36)}":1`);
    return JSON.parse(`{"name":"x","sku":"S-${made}","attributes":{${attributes}}}`) as Product;
  },
  'cells of long rows': () => {
    const row = `${String(made++).padStart(40, '0')},${'x'.repeat(20_000)}`;
    return { name: 'x', sku: row.slice(0, 40) };
  },
};

const quota = new ByteQuota({ perClient, total });
const store: Pick<Repository<Product>, 'findAllByUnique'> = {
  findAllByUnique: async (_field, values) => values.map(() => undefined),
};
const make = KINDS[process.argv[4] ?? ''] ?? (() => ({ name: 'x' }));
const runs: DryRunRepository<Product>[] = [];
const errors: string[] = [];
for (const client of ['a', 'a', 'b', 'c', 'd']) {
  const run = new DryRunRepository<Product>(store, PRODUCTS.fields, quota.open(client));
  runs.push(run);
  for (let error: string | undefined; !error; ) {
    const [id = 0] = await run.take(1);
    const record = { id, version: 1, createdAt: 1_700_000_000_000 + made, updatedAt: 0, fields: make() };
    const [outcome] = await run.insertAll([record]);
    if (outcome instanceof AppError) error = outcome.code;
    // A record that is found again is not kept twice.
    else for (const found of await run.findAllByUnique('id', [id])) void found?.fields;
    if (error) errors.push(error);
  }
}
process.stdout.write(`${runs.length} runs ended: ${errors.join(' ')}`);
