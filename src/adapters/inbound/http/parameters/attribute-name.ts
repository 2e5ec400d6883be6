/** The field whose keys the client chooses. */
export const ATTRIBUTES = 'attributes';

const DOT = `${ATTRIBUTES}.`;
const BRACKET = `${ATTRIBUTES}[`;

/** The operators of an attribute, behind the bracket. Without one, the attribute equals a value. */
export const ATTRIBUTE_OPERATORS = ['in', 'exists', 'lt', 'lte', 'gt', 'gte'] as const;

export type AttributeOperator = (typeof ATTRIBUTE_OPERATORS)[number];

/** The words of all operators. Behind a key they show the style of another service. */
export const OPERATOR_WORDS = ['ne', 'lt', 'lte', 'gt', 'gte', 'prefix', 'in', 'all', 'exists'] as const;

/** An operator behind a bracket, in both spellings. */
const OPERATOR = new RegExp(`\\][.:](${ATTRIBUTE_OPERATORS.join('|')})$`);

export interface AttributeName {
  readonly key: string;
  readonly operator?: AttributeOperator;
}

/**
 * Reads the name of a filter of an attribute: `attributes.KEY`, `attributes[KEY]`, or `attributes[KEY]` with an operator
 * behind it.
 * @returns undefined if the name is not that of an attribute, or is in {@link otherStyle another style}
 */
export function attributeName(name: string): AttributeName | undefined {
  if (otherStyle(name)) return undefined;
  const [suffix, operator] = (name.startsWith(BRACKET) && OPERATOR.exec(name)) || [];
  if (suffix === undefined) {
    const key = attributeKey(name);
    return key === undefined ? undefined : { key };
  }
  const key = name.slice(BRACKET.length, -suffix.length);
  return key === '' ? undefined : { key, operator: operator as AttributeOperator };
}

/**
 * Returns the key in the name of an attribute: in `attributes.KEY` everything after the first dot, in
 * `attributes[KEY]` what stands between the first `[` and the last `]`.
 * @returns undefined if the name is not that of an attribute
 */
export function attributeKey(name: string): string | undefined {
  const isBracketed = name.startsWith(BRACKET) && name.endsWith(']');
  if (!isBracketed && !name.startsWith(DOT)) return undefined;
  return name.slice(DOT.length, isBracketed ? -1 : undefined) || undefined;
}

/** What the name of a filter of an attribute means in the style of another service. */
export interface OtherStyle {
  readonly key: string;
  /** One of {@link OPERATOR_WORDS}. */
  readonly operator: string | undefined;
  /** The key if the name is read as it stands. */
  readonly literal: string;
}

const WORD = `(${OPERATOR_WORDS.join('|')})`;
/** Behind a dot: `colour.in`, `colour.in[0]`, `colour[in]`, `colour[$in]`, `colour[]`. `colour[0]` is a key. */
const BEHIND_DOT = new RegExp(`^(.*?)(?:(?:\\.${WORD}|\\[\\$?${WORD}\\])(?:\\[\\d*\\])?|\\[\\])?$`, 's');
/** Between the brackets: those of `attributes[colour][in]`, `attributes[colour][$in]` and `attributes[colour][0]`. */
const BETWEEN = new RegExp(`^(.+?)(?:\\]\\[\\$?${WORD})?(?:\\]\\[\\d*)?$`, 's');
/** The name of a filter as a member of an object: `attributes[attributes.colour]`, `attributes[].lt[attributes[a].lt]`. */
const MEMBER = /^(?:\]\.\w+[[.])?(attributes[.[].*)$/s;

/**
 * Recognises names that other services read as operators or as members of objects. A key that looks so has one spelling
 * left: {@link attributeSpelling}.
 */
export function otherStyle(name: string): OtherStyle | undefined {
  if (name.startsWith(DOT)) {
    const literal = name.slice(DOT.length);
    const [, key = literal, dotted, bracketed] = BEHIND_DOT.exec(literal) ?? [];
    return key === literal ? undefined : { key, operator: dotted ?? bracketed, literal };
  }
  if (!name.startsWith(BRACKET)) return undefined;
  const [suffix, operator] = OPERATOR.exec(name) ?? ['', undefined];
  if (!suffix && !name.endsWith(']')) return undefined;
  const literal = name.slice(BRACKET.length, suffix ? -suffix.length : -1);
  const [, member] = MEMBER.exec(literal) ?? [];
  if (member !== undefined) {
    const own: Partial<OtherStyle> = otherStyle(member) ?? attributeName(member) ?? {};
    return { key: own.key ?? '', operator: operator ?? own.operator, literal };
  }
  const [, key = literal, word] = (!suffix && BETWEEN.exec(literal)) || [];
  return key === literal ? undefined : { key, operator: word, literal };
}

/** The name of the filter that an attribute with this key equals a value: with brackets only if it needs them. */
export function attributeSpelling(key: string): string {
  const name = DOT + key;
  return otherStyle(name) ? `${BRACKET}${key}]` : name;
}
