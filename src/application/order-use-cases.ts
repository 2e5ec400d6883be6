import { type Fault, referenceNotFound } from '../domain/errors.js';
import { type Order, productReferences, type Reference, userReferences } from '../domain/order.js';
import type { Id, Unjudged } from '../domain/record.js';
import type { Subject } from './judgement.js';
import type { Repository } from './ports/repository.js';
import { type RecordDependencies, RecordUseCases } from './record-use-cases.js';

type Referred = Pick<Repository<unknown>, 'findExistingIds'>;

export interface OrderDependencies extends RecordDependencies<Order> {
  readonly users: Referred;
  readonly products: Referred;
}

/** An order names a user and products, which must exist when it begins to. What it named before may be gone. */
export class OrderUseCases extends RecordUseCases<Order> {
  constructor(protected override readonly deps: OrderDependencies) {
    super(deps);
  }

  protected override async referenceFaults(subjects: readonly Subject<Order>[]): Promise<Fault[][]> {
    const users = subjects.map((subject) => added(subject, userReferences));
    const products = subjects.map((subject) => added(subject, productReferences));
    const [knownUsers, knownProducts] = await Promise.all([
      existing(users, this.deps.users),
      existing(products, this.deps.products),
    ]);
    return subjects.map((_, at) => [
      ...dangling(users[at] ?? [], knownUsers),
      ...dangling(products[at] ?? [], knownProducts),
    ]);
  }
}

/** What the draft names and the order that it takes the place of does not. */
function added(
  { draft, previous }: Subject<Order>,
  references: (order: Unjudged<Order>) => Reference[],
): Reference[] {
  const known = new Set(previous && references(previous.fields).map(({ id }) => id));
  return references(draft.fields).filter(({ id }) => !known.has(id));
}

async function existing(
  references: readonly (readonly Reference[])[],
  records: Referred,
): Promise<ReadonlySet<Id>> {
  const ids = new Set(references.flat().map(({ id }) => id));
  return ids.size === 0 ? ids : records.findExistingIds([...ids]);
}

function dangling(references: readonly Reference[], existing: ReadonlySet<Id>): Fault[] {
  return references.filter(({ id }) => !existing.has(id)).map(({ path }) => referenceNotFound(path));
}
