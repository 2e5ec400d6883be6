/** The field whose keys the client chooses. */
export const ATTRIBUTES = 'attributes';

const DOT = `${ATTRIBUTES}.`;
const BRACKET = `${ATTRIBUTES}[`;

/** The operators of an attribute, behind the bracket. Without one, the attribute equals a value. */
export const ATTRIBUTE_OPERATORS = ['in', 'exists', 'lt', 'lte', 'gt', 'gte'] as const;

export type AttributeOperator = (typeof ATTRIBUTE_OPERATORS)[number];

/** An operator behind a bracket, in both spellings. */
const OPERATOR = new RegExp(`\\][.:](${ATTRIBUTE_OPERATORS.join('|')})$`);

export interface AttributeName {
  readonly key: string;
  readonly operator?: AttributeOperator;
}

/**
 * Reads the name of a filter of an attribute: `attributes.KEY`, `attributes[KEY]`, or `attributes[KEY]` with an operator
 * behind it. Without a bracket no operator follows, because a key may look like one.
 * @returns undefined if the name is not that of an attribute
 */
export function attributeName(name: string): AttributeName | undefined {
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
