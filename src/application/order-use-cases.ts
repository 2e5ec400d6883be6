import { type Fault, referenceNotFound } from '../domain/errors.js';
import { type Order, productReferences, type Reference, userReferences } from '../domain/order.js';
import type { Unjudged, Versioned } from '../domain/record.js';
import type { Repository } from './ports/repository.js';
import { type RecordDependencies, RecordUseCases } from './record-use-cases.js';

type Referred = Pick<Repository<unknown>, 'existing'>;

export interface OrderDependencies extends RecordDependencies<Order> {
  readonly users: Referred;
  readonly products: Referred;
}

/** An order names a user and products, which must exist when it begins to. What it named before may be gone. */
export class OrderUseCases extends RecordUseCases<Order> {
  constructor(protected override readonly deps: OrderDependencies) {
    super(deps);
  }

  protected override async referenceFaults(
    order: Unjudged<Order>,
    previous: Versioned<Order> | undefined,
  ): Promise<Fault[]> {
    const added = (references: (order: Unjudged<Order>) => Reference[]) => {
      const known = new Set(previous && references(previous.fields).map(({ id }) => id));
      return references(order).filter(({ id }) => !known.has(id));
    };
    const [users, products] = await Promise.all([
      dangling(added(userReferences), this.deps.users),
      dangling(added(productReferences), this.deps.products),
    ]);
    return [...users, ...products].map(({ path }) => referenceNotFound(path));
  }
}

async function dangling(references: readonly Reference[], records: Referred): Promise<Reference[]> {
  const ids = new Set(references.map(({ id }) => id));
  if (ids.size === 0) return [];
  const existing = await records.existing([...ids]);
  return references.filter(({ id }) => !existing.has(id));
}
