import { QueryBudget } from '#src/application/records/lists.js';
import { RECORD_TABLES, RESOURCE_TABLES } from '#src/composition/tables.js';
import type { Scope } from '#src/domain/access.js';
import { exampleOf, type Field } from '#src/domain/fields.js';
import { FakeClock } from './fakes.js';

export { EXPIRING_TABLES, RESOURCE_TABLES, TABLES } from '#src/composition/tables.js';

export const PRODUCTS = RECORD_TABLES.products;
export const USERS = RECORD_TABLES.users;
export const ORDERS = RECORD_TABLES.orders;
export const API_KEYS = RECORD_TABLES.apiKeys;
export const SIGNING_KEYS = RECORD_TABLES.signingKeys;
export const WEBHOOKS = RECORD_TABLES.webhooks;

/** The plurals in the paths of all resources. */
export const PLURALS = RESOURCE_TABLES.map(({ name }) => name.replaceAll('_', '-'));

/** The plurals of the resources with a read and a write scope; API keys and webhooks have one of their own instead. */
export const RECORD_PLURALS = RESOURCE_TABLES.filter((table) => table !== API_KEYS && table !== WEBHOOKS).map(
  ({ name }) => name as Extract<Scope, `${string}:read`> extends `${infer Plural}:read` ? Plural : never,
);

/** A valid body with the required and the unique fields, which have another value for each number. */
export function bodyOf(plural: (typeof RECORD_PLURALS)[number], number: number): Readonly<Record<string, unknown>> {
  const fields = Object.entries<Field>(RECORD_TABLES[plural].entity);
  return Object.fromEntries(
    fields.flatMap(([name, field]) => {
      if (!field.required && !field.unique) return [];
      const example = exampleOf({ [name]: field })[name];
      if (!field.unique) return [[name, example]];
      return [[name, typeof example === 'number' ? number : `${number}${example}`]];
    }),
  );
}

/** A query budget that never runs out, because its clock does not move. */
export const ENDLESS = new QueryBudget(new FakeClock(), 2_000);
