import type { SeededRandom } from '../../support/seeded-random.js';
import { type Json, type Line, type Mode, type Model, type Resource, type Sent, UNIQUE } from './model.js';

const SKUS = ['A-1', 'a-1', 'B.2', 'C_3', 'D', 'E', 'F', 'G'];
const EMAILS = ['ann@x.org', 'ANN@x.org', 'ann@X.ORG', 'bo@x.org', 'cy@x.org', 'Cy@x.org', 'di@x.org', 'ed@x.org'];
const KEYS: Readonly<Record<string, readonly string[]>> = { sku: SKUS, email: EMAILS };
const BAD_KEYS = ['', 'a b', 'x'.repeat(300), 7, true, null];
const BAD_NUMBERS = [0, -1, 1.5, '1', true];

/** Values of each field, and some that no record may have. There are few, so that many lines change nothing. */
const GOOD: Readonly<Record<string, readonly Json[]>> = {
  name: ['Lamp', 'Sofa', 'Bücher, "gut"\u2028'],
  description: ['', 'Two\nlines'],
  price: [
    { amount: 1, currency: 'EUR' },
    { amount: 2, currency: 'USD' },
    { amount: 0, currency: 'EUR' },
  ],
  attributes: [{ colour: 'red', watts: 7.5 }, { colour: '5', watts: 7.5, dim: true }, { dim: true, watts: -2 }, {}],
};
const PARTS: Readonly<Record<string, readonly Json[]>> = {
  price: [{ amount: 3 }, { currency: 'GBP' }, {}, { amount: null }],
  attributes: [{ watts: null }, { colour: null, dim: false }, { colour: 'blue' }],
};
const BAD: Readonly<Record<string, readonly Json[]>> = {
  name: ['', ' ', 'x'.repeat(201), 7, ['Lamp']],
  description: [7, {}],
  sku: ['', 'a b', 'x'.repeat(65), 7],
  email: ['', 'nobody', 7],
  price: [5, { amount: -1, currency: 'eur' }, { amount: 1.5, currency: 'EUR' }, { amount: '1', tax: 2 }],
  attributes: [[], { colour: ['red'] }, { watts: {} }],
};

/** The part of the merge patches that has a field. Other bodies have required fields more often. */
const LIKELY: Readonly<Record<string, number>> = { name: 0.5, email: 0.5, attributes: 0.7 };

/** Draws the lines of one import beside what its earlier lines have done to the model. */
export abstract class RandomLines {
  protected readonly unique: string;

  constructor(
    protected readonly random: SeededRandom,
    protected readonly mode: Mode,
    protected readonly model: Model,
  ) {
    this.unique = UNIQUE[mode.resource].field;
  }

  abstract next(): Line;

  /** A value of the field by which records are found, mostly one of few, sometimes one that no record has or can have. */
  protected key(): Json {
    const { random, mode, model } = this;
    if (random.chance(0.01)) return undefined;
    if (random.chance(0.05)) return random.oneOf([...BAD_KEYS, ...(mode.match === 'id' ? BAD_NUMBERS : [])]);
    if (mode.match !== 'id') return random.oneOf(KEYS[this.unique] ?? []);
    const known = [...model.records.keys()].filter((id) => id > 0);
    const gone = model.deletedIds.filter((id) => id > 0);
    return random.chance(0.15) || known.length === 0 ? random.oneOf([...gone, 8_999_999]) : random.oneOf(known);
  }

  protected version(key: Json): Json {
    const { random } = this;
    const { version = 1 } = this.found(key) ?? {};
    return random.weighted({ absent: 70, right: 20, wrong: 9, bad: 1 }) === 'absent'
      ? undefined
      : random.oneOf([version, version, version, version, version + 1, version - 1, 999, random.oneOf(BAD_NUMBERS)]);
  }

  protected found(key: Json) {
    const { match } = this.mode;
    return match !== undefined && ['string', 'number'].includes(typeof key)
      ? this.model.find(match, match === 'id' ? key : String(key))
      : undefined;
  }

  /** The id that a line of another key says. */
  protected idBeside(key: Json): Json {
    const { random } = this;
    if (!random.chance(0.2)) return undefined;
    const id = this.found(key)?.id ?? 0;
    return id > 0 && random.chance(0.75) ? id : random.oneOf([8_999_999, null, 'x']);
  }
}

/** Lines of NDJSON. */
export class RandomJsonLines extends RandomLines {
  /** Lines that are due before others are drawn. */
  private readonly due: Json[] = [];

  next(): Line {
    const { random } = this;
    if (random.chance(0.01)) return malformed(random.oneOf(['{"sku":', '{"name":"a","name":"b"}', 'nonsense']));
    if (random.chance(0.005)) return jsonLine(random.oneOf([[], 'text', 7]));
    if (this.due.length === 0 && this.mode.match === 'id' && random.chance(0.05)) this.exchange();
    return jsonLine(this.due.shift() ?? this.body());
  }

  private body(): Json {
    const { random, mode } = this;
    const { match, resource } = mode;
    const key = match === undefined ? undefined : this.key();
    const stored = this.found(key);
    if (match !== undefined && stored && stored.id > 0 && random.chance(0.15))
      return { ...(random.chance(0.5) && { id: stored.id }), ...stored.fields, [match]: key };
    const fields = FIELD_NAMES[resource].filter((name) => name !== match).map((name) => [name, this.value(name)]);
    const body: Json = {
      ...Object.fromEntries(fields),
      version: match === undefined ? undefined : this.version(key),
      id: match === undefined ? undefined : this.idBeside(key),
      deleted: random.chance(0.1) ? random.oneOf([true, true, true, false, null, 'yes', 1]) : undefined,
      createdAt: random.chance(0.01) ? random.oneOf(['2020-01-01T00:00:00.000Z', null]) : undefined,
      colour: random.chance(0.02) ? random.oneOf([1, null]) : undefined,
      ...(match !== undefined && { [match]: key }),
    };
    return JSON.parse(JSON.stringify(body));
  }

  private value(name: string): Json {
    const { random, mode } = this;
    const likely = mode.existing === 'merge' ? LIKELY : { ...LIKELY, name: 0.9, email: 0.9 };
    if (!random.chance(likely[name] ?? 0.4)) return random.chance(0.08) ? null : undefined;
    if (random.chance(0.04)) return random.oneOf(BAD[name] ?? []);
    if (name === this.unique) return random.oneOf(KEYS[name] ?? []);
    return random.oneOf([...(GOOD[name] ?? []), ...(random.chance(0.3) ? (PARTS[name] ?? []) : [])]);
  }

  /** Two records exchange their unique values, by way of one that no other has. */
  private exchange(): void {
    const { model, random, unique } = this;
    const known = [...model.records].filter(([id, { fields }]) => id > 0 && fields[unique] !== undefined);
    if (known.length < 2) return;
    const [one, other] = [random.oneOf(known), random.oneOf(known)];
    const change = ([id, { fields }]: typeof one, value: string) => ({ id, ...fields, [unique]: value });
    const free = unique === 'sku' ? 'free' : 'free@x.org';
    const last = random.oneOf([other, one]);
    this.due.push(change(one, free), change(other, one[1].fields[unique]), change(last, other[1].fields[unique]));
  }
}

const FIELD_NAMES: Readonly<Record<Resource, readonly string[]>> = {
  products: ['name', 'description', 'sku', 'price', 'attributes'],
  users: ['name', 'email'],
};

export function jsonLine(body: Json): Line {
  return { text: JSON.stringify(body), read: () => ({ body }) };
}

function malformed(text: string): Line {
  return { text, read: () => ({ code: 'malformed_json' }) };
}

const CELLS: Readonly<Record<string, readonly string[]>> = {
  name: ['Lamp', 'Sofa', '"Bücher, ""gut"""', '""', '" "'],
  description: ['""', '"Two\r\nlines"', 'text'],
  'price.amount': ['1', '2', '0', '-1', '1.5', '19,99', 'x', '""'].map((cell) =>
    cell.includes(',') ? `"${cell}"` : cell,
  ),
  'price.currency': ['EUR', 'USD', 'eur'],
  'attributes.colour': ['red', '5', 'true', '7.5', '""'],
  'attributes.watts': ['7.5', '7.5', '7.5', '-2', '-2', '5', 'many', '""'],
  'attributes.dim': ['true', 'TRUE', 'false', 'False', '1', 'no'],
  'attributes[watts]:number': ['7.5', '-2', 'many', '""'],
  'attributes[dim]:boolean': ['true', 'false', 'no'],
  attributes: ['"{""colour"":""red""}"', '"{""watts"":null,""dim"":true}"', '{}', '[]', '"{""colour"":"'],
  id: ['8999999', '0', 'x', '""'],
  version: ['0', '1', '2', '1.5', 'x', '""'],
  deleted: ['true', 'TRUE', 'false', 'yes', '""'],
};

/** Records of CSV below one random header row. */
export class RandomCsvLines extends RandomLines {
  readonly header: readonly string[];

  constructor(random: SeededRandom, mode: Mode, model: Model) {
    super(random, mode, model);
    const { match, resource } = mode;
    const needed = match === undefined ? (resource === 'users' ? ['name', 'email'] : ['name']) : [match];
    const price = random.oneOf([[], ['price.amount'], ['price.amount', 'price.currency'], ['price.currency']]);
    const untyped = ['attributes.colour', 'attributes.watts', 'attributes.dim'];
    const typed = ['attributes.colour', 'attributes[watts]:number', 'attributes[dim]:boolean'];
    const attributes = random.oneOf([[], ['attributes'], typed, untyped, untyped, untyped]);
    const optional = [
      'name',
      this.unique,
      ...(resource === 'products' ? ['description', ...price, ...attributes] : []),
      ...(match === undefined ? [] : ['id', 'version', 'deleted']),
    ];
    const chosen = new Set([...needed, ...optional.filter(() => random.chance(0.75))]);
    this.header = [...chosen].toSorted(() => random.fraction() - 0.5);
  }

  next(): Line {
    const { random, mode, header } = this;
    const { match } = mode;
    const key = match === undefined ? undefined : this.key();
    const cells = header.map((name) => {
      if (name === match) return this.cellOf(key);
      if (name === 'version') return this.cellOf(this.version(key));
      if (name === 'id') return this.cellOf(this.idBeside(key));
      if (name === 'deleted' && random.chance(0.9)) return '';
      if (name === this.unique && random.chance(0.95)) return random.chance(0.3) ? '' : random.oneOf(KEYS[name] ?? []);
      const isMissing = random.chance(name === 'name' && mode.existing !== 'merge' ? 0.1 : 0.45);
      return isMissing ? '' : random.oneOf(CELLS[name] ?? ['""']);
    });
    // A record whose cells are all empty is skipped.
    if (cells.join('') === '') cells[0] = '""';
    if (random.chance(0.01)) return { text: `${cells.join(',')},x,`, read: () => ({ code: 'malformed_csv' }) };
    return { text: cells.join(','), read: (stored) => readCells(mode, header, cells, stored) };
  }

  private cellOf(value: Json): string {
    if (value === undefined || value === null) return '';
    const text = String(value);
    return text === '' || this.random.chance(0.1) ? `"${text}"` : text;
  }
}

/** What a record of CSV says beside the one that has its key, by the words of the contract about cells. */
function readCells(
  { match, existing, empty }: Mode,
  header: readonly string[],
  cells: readonly string[],
  stored?: Json,
): Sent {
  const clears = stored !== undefined && existing === 'merge' && empty === 'clear';
  const body: Json = {};
  const misfits: string[] = [];
  for (const [at, name] of header.entries()) {
    const raw = cells[at] ?? '';
    if (raw === '') {
      const [, field = name, member] = /^(attributes|price)[.[](\w+)/.exec(name) ?? [];
      if (!clears || [match, 'id', 'version', 'deleted'].includes(name)) continue;
      body[field] = member === undefined ? null : { ...body[field], [member]: null };
      continue;
    }
    const text = raw.startsWith('"') ? raw.slice(1, -1).replaceAll('""', '"') : raw;
    if (name === 'attributes') {
      const value = parsed(text);
      if (value === undefined) return { code: 'malformed_json', issues: [['invalid_format', '/attributes']] };
      body.attributes = value;
      continue;
    }
    const [, field = '', typed, untyped, type] = /^(attributes|price)(?:\[(\w+)\]:(\w+))?(?:\.(\w+))?$/.exec(name)
      ? (/^(\w+)(?:\[(\w+)\])?(?:\.(\w+))?(?::(\w+))?$/.exec(name) ?? [])
      : [];
    if (field === '') {
      body[name] =
        name === 'deleted' ? (booleanOf(text) ?? text) : ['id', 'version'].includes(name) ? numeral(text) : text;
      continue;
    }
    const member = typed ?? untyped ?? '';
    body[field] ??= {};
    if (field === 'price') body.price[member] = member === 'amount' && /^-?\d+$/.test(text) ? Number(text) : text;
    else {
      const own = stored?.attributes?.[member];
      const kind = type ?? (own === undefined ? 'string' : typeof own);
      const value = kind === 'number' ? numeral(text) : kind === 'boolean' ? (booleanOf(text) ?? text) : text;
      if (kind !== 'string' && typeof value === 'string') misfits.push(`/attributes/${member}`);
      body.attributes[member] = value;
    }
  }
  const { amount, currency } = body.price ?? {};
  const isNew = stored?.price && currency && currency !== stored.price.currency;
  const lacksAmount = isNew && (amount === undefined || amount === null);
  if (body.price && !Object.values(body.price).some((member) => member !== null)) body.price = null;
  return { body, misfits, lacksAmount };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function numeral(text: string): number | string {
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

function booleanOf(text: string): boolean | undefined {
  return { true: true, false: false }[text.toLowerCase()];
}
