import { isDeepStrictEqual } from 'node:util';

// biome-ignore lint/suspicious/noExplicitAny: any value of JSON
export type Json = any;
export type Issue = readonly [code: string, pointer: string];
export type Resource = 'products' | 'users';

/** The parameters of an import. */
export interface Mode {
  readonly resource: Resource;
  /** Absent: each line is a new record. */
  readonly match?: 'id' | 'sku' | 'email';
  readonly existing?: 'merge' | 'replace' | 'skip';
  /** Of CSV. */
  readonly empty?: 'keep' | 'clear';
}

/**
 * What a line says: a body with the pointers to the values that cannot be read, and whether its currency needs an amount
 * that it lacks; or why it is no record.
 */
export type Sent =
  | { readonly body: Json; readonly misfits?: readonly string[]; readonly lacksAmount?: boolean }
  | { readonly code: string; readonly issues?: readonly Issue[] };

/** A line as it is sent, and what it says beside the record that has its key. */
export interface Line {
  readonly text: string;
  read(stored?: Json): Sent;
}

/** The result of a line without its number. An error has its code and the codes and pointers of its details, sorted. */
export interface Result {
  readonly status: number;
  readonly id?: number;
  readonly version?: number;
  readonly unchanged?: true;
  readonly error?: readonly [code: string, ...issues: readonly Issue[]];
  /** The record that has the value which another one may not have. */
  readonly owner?: number;
}

export interface ModelRecord {
  readonly version: number;
  readonly fields: Json;
}

/** The unique field of each resource, and how its values are compared. */
export const UNIQUE = {
  products: { field: 'sku', compared: (value: string) => value },
  users: { field: 'email', compared: (value: string) => value.toLowerCase() },
} as const;

/**
 * The records of a resource in a Map, and what an import does to them by section 5 of the contract. It shares no code
 * with the service. A new record has a negative id until the service has said its own.
 */
export class Model {
  readonly records = new Map<number, ModelRecord>();
  readonly deletedIds: number[] = [];
  private newIds = 0;

  constructor(
    private readonly resource: Resource,
    private readonly needsVersion: boolean,
  ) {}

  /** The record with this key, with its id. */
  find(match: string, key: Json): (ModelRecord & { readonly id: number }) | undefined {
    const { compared } = UNIQUE[this.resource];
    for (const [id, record] of this.records) {
      const own = match === 'id' ? id : compared(record.fields[match] ?? '');
      if (own === (match === 'id' ? key : compared(key))) return { id, ...record };
    }
    return undefined;
  }

  apply(line: Line, { match, existing = 'merge' }: Mode): Result {
    const sent = line.read();
    if ('code' in sent) return refused(400, sent.code, sent.issues);
    const { body, misfits } = sent;
    if (!isObject(body)) return invalid([['invalid_type', '']]);
    if (match === undefined) {
      const { version: _unsaid, ...result } = this.create(body, misfits);
      return result;
    }
    const { version, deleted, ...own } = body;
    const control = controlIssues(match, body);
    if (control.length > 0) return invalid([...control, ...this.otherIssues(match, body, misfits)]);
    const isVersioned = !isAbsent(version);
    const found = this.find(match, body[match]);
    if (!found) {
      if (deleted === true) return { status: 204, unchanged: true };
      if (isVersioned || match === 'id') return refused(404, 'not_found');
      return this.create(own, misfits);
    }
    const { id } = found;
    if (isVersioned && version !== found.version)
      return { ...refused(412, 'precondition_failed'), id, version: found.version };
    if (deleted === true) {
      if (this.needsVersion && !isVersioned) return refused(428, 'precondition_required');
      this.records.delete(id);
      this.deletedIds.push(id);
      return { status: 204 };
    }
    return this.change(found, { match, existing }, line, isVersioned);
  }

  /** Gives a new record the id that the service has given it. */
  rename(from: number, to: number): void {
    const record = this.records.get(from);
    if (record) this.records.set(to, record);
    this.records.delete(from);
    const at = this.deletedIds.indexOf(from);
    if (at >= 0) this.deletedIds[at] = to;
  }

  private create(body: Json, misfits: readonly string[] = []): Result {
    const given = withoutNulls(this.resource, body);
    const { id: _id, version: _version, createdAt: _created, updatedAt: _updated, ...fields } = given;
    const issues = [...readOnlyIssues(given, {}), ...this.issuesOf(fields, misfits)];
    if (issues.length > 0) return invalid(issues);
    const id = -++this.newIds;
    return this.store(id, 1, fields) ?? { status: 201, id, version: 1 };
  }

  private change(
    { id, version, fields: stored }: ModelRecord & { readonly id: number },
    { match = 'id', existing }: Pick<Mode, 'match' | 'existing'>,
    line: Line,
    isVersioned: boolean,
  ): Result {
    const sent = line.read(stored);
    if ('code' in sent) return refused(400, sent.code, sent.issues);
    const { version: _version, deleted: _deleted, ...own } = sent.body;
    const readOnly = readOnlyIssues(own, { id });
    const unchanged: Result = { status: 200, id, version, unchanged: true };
    if (existing === 'skip') return readOnly.length > 0 ? invalid(readOnly) : unchanged;
    const { id: _id, createdAt: _created, updatedAt: _updated, ...given } = own;
    const result = existing === 'merge' ? merged(stored, given) : withoutNulls(this.resource, given);
    // A merge keeps the spelling of its key.
    if (existing === 'merge' && match !== 'id') result[match] = stored[match];
    const issues = [...readOnly, ...this.issuesOf(result, sent.misfits)];
    if (sent.lacksAmount && !issues.some(([code, at]) => code === 'required' && at === '/price/amount'))
      issues.push(['required', '/price/amount']);
    if (issues.length > 0) return invalid(issues);
    if (isDeepStrictEqual(normal(result), stored)) return unchanged;
    if (this.needsVersion && !isVersioned) return refused(428, 'precondition_required');
    return this.store(id, version + 1, result) ?? { status: 200, id, version: version + 1 };
  }

  /** @returns why the record is refused, if another one has its unique value */
  private store(id: number, version: number, fields: Json): Result | undefined {
    const { field } = UNIQUE[this.resource];
    const rival = fields[field] === undefined ? undefined : this.find(field, fields[field]);
    if (rival && rival.id !== id)
      return { ...refused(409, 'duplicate_value', [['duplicate_value', `/${field}`]]), owner: rival.id };
    this.records.set(id, { version, fields: normal(fields) });
    return undefined;
  }

  private issuesOf(fields: Json, misfits: readonly string[] = []): Issue[] {
    const issues = issuesOf(this.resource, fields).filter(([, pointer]) => !misfits.includes(pointer));
    return [...issues, ...misfits.map((pointer): Issue => ['invalid_type', pointer])];
  }

  /** What is wrong with a line whose key, version or deletion is wrong already, whatever record it means. */
  private otherIssues(match: string, body: Json, misfits: readonly string[] = []): Issue[] {
    if (body.deleted === true) return [];
    const { id: _id, version: _version, deleted: _deleted, createdAt: _created, updatedAt: _updated, ...own } = body;
    return this.issuesOf(withoutNulls(this.resource, own), misfits).filter(
      ([code, pointer]) => code !== 'required' && ![`/${match}`, '/id', '/version', '/deleted'].includes(pointer),
    );
  }
}

function refused(status: number, code: string, issues: readonly Issue[] = []): Result {
  return { status, error: [code, ...issues.toSorted()] };
}

function invalid(issues: readonly Issue[]): Result {
  return refused(400, 'validation_failed', issues);
}

function controlIssues(match: string, body: Json): Issue[] {
  const { version, deleted } = body;
  const issues = match === 'id' ? numberIssues('id', body.id, true) : keyIssues(match, body[match]);
  if (deleted !== true) issues.push(...numberIssues('version', version, false));
  if (!isAbsent(deleted) && typeof deleted !== 'boolean') issues.push(['invalid_type', '/deleted']);
  return issues;
}

function numberIssues(name: string, value: Json, isRequired: boolean): Issue[] {
  if (isAbsent(value)) return isRequired ? [['required', `/${name}`]] : [];
  if (!Number.isInteger(value)) return [['invalid_type', `/${name}`]];
  return value < 1 ? [['out_of_range', `/${name}`]] : [];
}

function keyIssues(match: string, key: Json): Issue[] {
  if (isAbsent(key)) return [['required', `/${match}`]];
  return RULES[match]?.(key, `/${match}`) ?? [];
}

function readOnlyIssues(own: Json, stored: { readonly id?: number }): Issue[] {
  // Random lines never say the right times.
  const wrong = ['id', 'version', 'createdAt', 'updatedAt'].filter(
    (name) => !isAbsent(own[name]) && !(name === 'id' && own.id === stored.id),
  );
  return wrong.map((name) => ['read_only_field', `/${name}`]);
}

/** RFC 7396 section 2 */
function merged(target: Json, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}

type Rule = (value: Json, pointer: string) => Issue[];

function text(max: number, allowed: RegExp, min = 1): Rule {
  return (value, pointer) => {
    if (typeof value !== 'string') return [['invalid_type', pointer]];
    if (value.length < min) return [['too_short', pointer]];
    const issues: Issue[] = value.length > max ? [['too_long', pointer]] : [];
    return allowed.test(value) ? issues : [...issues, ['invalid_format', pointer]];
  };
}

const RULES: Readonly<Record<string, Rule>> = {
  name: text(200, /\S/),
  description: text(5_000, /^/, 0),
  sku: text(64, /^[A-Za-z0-9._-]*$/),
  email: text(254, /^[a-z.]+@[a-z.]+$/i),
  price: (value, pointer) => {
    if (!isObject(value)) return [['invalid_type', pointer]];
    const { amount, currency, ...others } = value;
    return [
      ...amountIssues(amount).map((code): Issue => [code, `${pointer}/amount`]),
      ...currencyIssues(currency).map((code): Issue => [code, `${pointer}/currency`]),
      ...Object.keys(others).map((name): Issue => ['unknown_field', `${pointer}/${name}`]),
    ];
  },
  attributes: (value, pointer) =>
    isObject(value)
      ? Object.entries(value).flatMap(([key, one]) =>
          ['string', 'number', 'boolean'].includes(typeof one) ? [] : [['invalid_type', `${pointer}/${key}`] as const],
        )
      : [['invalid_type', pointer]],
};

function amountIssues(amount: Json): string[] {
  if (amount === undefined) return ['required'];
  if (!Number.isInteger(amount)) return ['invalid_type'];
  return amount < 0 ? ['out_of_range'] : [];
}

function currencyIssues(currency: Json): string[] {
  if (currency === undefined) return ['required'];
  if (typeof currency !== 'string') return ['invalid_type'];
  if (currency === '') return ['too_short'];
  return /^[A-Z]{3}$/.test(currency) ? [] : ['invalid_format'];
}

const FIELDS: Readonly<Record<Resource, readonly string[]>> = {
  products: ['name', 'description', 'sku', 'price', 'attributes'],
  users: ['name', 'email'],
};
const REQUIRED: Readonly<Record<Resource, readonly string[]>> = {
  products: ['name'],
  users: ['name', 'email'],
};

function issuesOf(resource: Resource, fields: Json): Issue[] {
  const missing = REQUIRED[resource].filter((name) => fields[name] === undefined);
  return [
    ...missing.map((name): Issue => ['required', `/${name}`]),
    ...Object.entries(fields).flatMap(([name, value]): Issue[] =>
      FIELDS[resource].includes(name) ? (RULES[name]?.(value, `/${name}`) ?? []) : [['unknown_field', `/${name}`]],
    ),
  ];
}

/** A null where no value is needed is none. */
function withoutNulls(resource: Resource, body: Json): Json {
  const optional = [...FIELDS[resource], 'id', 'version', 'createdAt', 'updatedAt'].filter(
    (name) => !REQUIRED[resource].includes(name),
  );
  const kept = Object.entries(body).filter(([name, value]) => value !== null || !optional.includes(name));
  const { attributes, ...rest } = Object.fromEntries(kept) as Json;
  if (!isObject(attributes)) return attributes === undefined ? rest : { ...rest, attributes };
  const named = Object.entries(attributes).filter(([, value]) => value !== null);
  return { ...rest, attributes: Object.fromEntries(named) };
}

/** An empty object of attributes is no value. */
function normal({ attributes, ...rest }: Json): Json {
  return isObject(attributes) && Object.keys(attributes).length > 0 ? { ...rest, attributes } : rest;
}

function isAbsent(value: Json): boolean {
  return value === undefined || value === null;
}

function isObject(value: Json): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
