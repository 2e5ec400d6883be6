import { isDeepStrictEqual } from 'node:util';

export const RESOURCES = ['products', 'users', 'orders'] as const;
export type Resource = (typeof RESOURCES)[number];
export type Fields = Readonly<Record<string, unknown>>;
export type Apply = (before: Fields) => Fields;

/** A record as the service or the store shows it. */
export interface Found {
  readonly id: number;
  readonly version: number;
  readonly fields: Fields;
}

/** Every violation, by the figure that counts it. */
export class Verdict {
  readonly lost: string[] = [];
  readonly doubled: string[] = [];
  readonly idsTwice: string[] = [];
  readonly versions: string[] = [];
  /** Broken unique fields, responses that no client expects, and reads that contradict each other. */
  readonly others: string[] = [];

  get all(): string[] {
    const { lost, doubled, idsTwice, versions, others } = this;
    return [...lost, ...doubled, ...idsTwice, ...versions, ...others];
  }
}

interface Acknowledgement {
  /** Whether an earlier attempt of the same edit had no outcome: the version may be that of another edit. */
  readonly isRetry: boolean;
  readonly apply: Apply;
  /** Absent if the response had no body. */
  readonly fields: Fields | undefined;
}

/** What the writers know about one record. */
export class History {
  readonly versionErrors: string[] = [];
  /** Edits that may have written a version without a response, one for each such attempt. */
  readonly possible: Apply[] = [];
  deletionsSent = 0;
  isDeleted = false;
  private newest = 1;
  private readonly versions = new Map<number, Acknowledgement[]>();

  constructor(
    readonly resource: Resource,
    readonly id: number,
    readonly token: string,
    readonly created: Fields,
  ) {}

  get name(): string {
    return `${this.resource}/${this.id} (${this.token})`;
  }

  /** The highest acknowledged version. */
  get highest(): number {
    return this.newest;
  }

  /** @param matched the version that the request expected as If-Match */
  acknowledge(version: number, by: Acknowledgement, matched = version - 1): void {
    const at = this.versions.get(version) ?? [];
    if (version !== matched + 1) this.versionErrors.push(`${this.name}: version ${version} for If-Match ${matched}`);
    const [other] = at;
    if (version < 2 || !Number.isInteger(version))
      this.versionErrors.push(`${this.name}: an edit got version ${version}`);
    if (!by.isRetry && at.some(({ isRetry }) => !isRetry))
      this.versionErrors.push(`${this.name}: version ${version} was given to two edits`);
    if (other?.fields && by.fields && !isDeepStrictEqual(other.fields, by.fields))
      this.versionErrors.push(`${this.name}: version ${version} has two contents`);
    this.versions.set(version, [...at, by]);
    this.newest = Math.max(this.newest, version);
  }

  /** Compares the acknowledged versions with the final state of a record. */
  verify(found: Found, verdict: Verdict): void {
    const { name } = this;
    for (const version of this.versions.keys())
      if (version > found.version) verdict.lost.push(`${name}: version ${version} of ${found.version}`);
    const { gaps, before, last } = this.replay(found.version, verdict.lost);
    if (gaps > this.possible.length)
      verdict.versions.push(
        `${name}: ${gaps} of ${found.version} versions were skipped, ${this.possible.length} edits have no outcome`,
      );
    const isPossible = last
      ? isDeepStrictEqual(last, found.fields)
      : !before || this.possible.some((apply) => isDeepStrictEqual(apply(before), found.fields));
    if (!isPossible)
      verdict.lost.push(`${name}: the end lacks changes: ${differing(last ?? before ?? {}, found.fields)}`);
  }

  /** Returns the content of a version as far as it was acknowledged. */
  contentOf(version: number): Fields | undefined {
    return this.replay(version, []).last;
  }

  /**
   * Applies the acknowledged edits one after the other.
   * @param lost gets each acknowledged content that lacks an edit
   * @returns how many versions no edit was acknowledged for; the content before the last version, and that of the last
   */
  private replay(end: number, lost: string[]): { gaps: number; before?: Fields; last?: Fields } {
    let last: Fields | undefined = this.created;
    let before: Fields | undefined;
    let gaps = 0;
    for (let version = 2; version <= end; version++) {
      before = last;
      const acknowledged: readonly Acknowledgement[] = this.versions.get(version) ?? [];
      const own = acknowledged.find(({ isRetry }) => !isRetry);
      const expected: Fields | undefined = own && before && own.apply(before);
      const shown = acknowledged.find(({ fields }) => fields)?.fields;
      if (expected && shown && !isDeepStrictEqual(expected, shown))
        lost.push(`${this.name}: version ${version} lacks changes: ${differing(expected, shown)}`);
      last = shown ?? expected;
      // A repeated edit may have written two versions: one without a response, and the acknowledged one.
      if (acknowledged.length === 0) gaps++;
    }
    return { gaps, ...(before && { before }), ...(last && { last }) };
  }
}

function differing(expected: Fields, shown: Fields): string {
  return `${JSON.stringify(expected)} became ${JSON.stringify(shown)}`;
}

interface Creation {
  readonly fields: Fields;
  history?: History;
  /** Whether an attempt had no outcome. */
  isUncertain: boolean;
  isRefused: boolean;
}

export interface Key {
  id?: number;
  /** The secret. Absent if the response that had it was lost. */
  secret?: string;
  /** Whether a client, or the command line, tried to revoke it. */
  isRevocationSent: boolean;
  isRevoked: boolean;
}

/** Everything that was sent and acknowledged. It verifies the state of the store at the end by nothing else. */
export class Ledger {
  /** The acknowledged writes. */
  acknowledged = 0;
  /** Responses with `Idempotency-Replayed`. */
  replays = 0;
  /** Violations that were seen before the end. */
  readonly seen = new Verdict();
  /** The sample products that the command line must have created at the end. */
  seeded = 0;
  readonly keys = new Map<string, Key>();
  private readonly histories: Readonly<Record<Resource, Map<number, History>>> = {
    products: new Map(),
    users: new Map(),
    orders: new Map(),
  };
  private readonly creations: Readonly<Record<Resource, Map<string, Creation>>> = {
    products: new Map(),
    users: new Map(),
    orders: new Map(),
  };

  creating(resource: Resource, token: string, fields: Fields): void {
    this.creations[resource].set(token, { fields, isUncertain: false, isRefused: false });
  }

  uncertain(resource: Resource, token: string): void {
    const creation = this.creations[resource].get(token);
    if (creation) creation.isUncertain = true;
  }

  refused(resource: Resource, token: string): void {
    const creation = this.creations[resource].get(token);
    if (creation) creation.isRefused = true;
  }

  /** A creation was acknowledged, possibly again. */
  created(resource: Resource, token: string, id: number): void {
    const creation = this.creations[resource].get(token);
    if (!creation) throw new Error(`${token} was not sent.`);
    if (creation.history) {
      if (creation.history.id !== id)
        this.seen.doubled.push(`${creation.history.name} was later acknowledged as ${id}`);
      return;
    }
    const other = this.histories[resource].get(id);
    if (other) this.seen.idsTwice.push(`${other.name} has the id of ${token}`);
    creation.history = new History(resource, id, token, creation.fields);
    this.histories[resource].set(id, creation.history);
    this.acknowledged++;
  }

  /** The records that were acknowledged, oldest first. */
  records(resource: Resource): readonly History[] {
    return [...this.histories[resource].values()];
  }

  /** The acknowledged records that no client tried to delete so far. */
  kept(resource: Resource): readonly History[] {
    return this.records(resource).filter(({ deletionsSent }) => deletionsSent === 0);
  }

  /** Whether a creation with this token was sent. */
  isSent(resource: Resource, token: string | undefined): boolean {
    return token !== undefined && this.creations[resource].has(token);
  }

  /** A request found no record. @param own the deletions that this client sent */
  missing(history: History, own = 0): void {
    if (history.deletionsSent <= own) this.seen.lost.push(`${history.name} is gone, but was never deleted`);
    history.isDeleted = true;
  }

  /** @param dead the ids of tombstones */
  verify(
    live: Readonly<Record<Resource, readonly Found[]>>,
    dead: Readonly<Record<Resource, ReadonlySet<number>>>,
  ): Verdict {
    const verdict = new Verdict();
    for (const kind of ['lost', 'doubled', 'idsTwice', 'versions', 'others'] as const)
      verdict[kind].push(...this.seen[kind]);
    for (const resource of RESOURCES) {
      this.verifyExistence(resource, live[resource], dead[resource], verdict);
      this.verifyOrigin(resource, live[resource], verdict);
    }
    verifyUniqueness(live, verdict);
    return verdict;
  }

  private verifyExistence(
    resource: Resource,
    live: readonly Found[],
    dead: ReadonlySet<number>,
    verdict: Verdict,
  ): void {
    const byId = new Map(live.map((found) => [found.id, found]));
    for (const history of this.histories[resource].values()) {
      verdict.versions.push(...history.versionErrors);
      const found = byId.get(history.id);
      if (found && history.isDeleted) verdict.lost.push(`${history.name} was deleted, but is back`);
      if (!found && history.deletionsSent === 0) verdict.lost.push(`${history.name} is gone`);
      if (!found && !dead.has(history.id)) verdict.lost.push(`${history.name} left no tombstone`);
      if (found) history.verify(found, verdict);
    }
  }

  /** Finds records that nobody sent, and records of one request under two ids. */
  private verifyOrigin(resource: Resource, live: readonly Found[], verdict: Verdict): void {
    const tokens = new Map<string, number>();
    const samples = new Set<unknown>();
    for (const { id, fields } of live) {
      const token = tokenOf(resource, fields);
      if (token === undefined) {
        if (samples.has(fields['sku'])) verdict.doubled.push(`sample ${fields['sku']} of ${id} exists twice`);
        samples.add(fields['sku']);
        continue;
      }
      const creation = this.creations[resource].get(token);
      const earlier = tokens.get(token);
      tokens.set(token, id);
      if (earlier !== undefined) verdict.doubled.push(`${resource} ${token} has the ids ${earlier} and ${id}`);
      else if (!creation) verdict.doubled.push(`${resource}/${id} was never sent`);
      else if (creation.history && creation.history.id !== id)
        verdict.doubled.push(`${creation.history.name} exists as ${id} too`);
      else if (creation.isRefused && !creation.isUncertain)
        verdict.doubled.push(`${resource}/${id} exists, although ${token} was refused`);
    }
    if (resource !== 'products') return;
    if (samples.size < this.seeded) verdict.lost.push(`${this.seeded - samples.size} sample products`);
    if (samples.size > this.seeded) verdict.doubled.push(`${samples.size - this.seeded} sample products too many`);
  }
}

function verifyUniqueness({ products, users }: Readonly<Record<Resource, readonly Found[]>>, verdict: Verdict): void {
  const values = [
    ...products.map(({ fields }) => fields['sku']),
    ...users.map(({ fields }) => String(fields['email']).toLowerCase()),
  ].filter((value) => value !== undefined);
  const seen = new Set<unknown>();
  for (const value of values) {
    if (seen.has(value)) verdict.others.push(`${value} is not unique`);
    seen.add(value);
  }
}

/**
 * Returns the token of the request that created a record: the second word of a name, or the quantity of an order's
 * first item. No edit changes it. A sample product has none.
 */
export function tokenOf(resource: Resource, fields: Fields): string | undefined {
  if (resource === 'orders') return `o${(fields['items'] as { quantity: number }[])[0]?.quantity}`;
  return /^(?:Gizmo|Person) (\w+) /.exec(String(fields['name']))?.[1];
}
