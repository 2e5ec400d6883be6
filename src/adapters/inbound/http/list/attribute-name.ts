/** The field whose keys the client chooses. */
export const ATTRIBUTES = 'attributes';

const DOT = `${ATTRIBUTES}.`;
const BRACKET = `${ATTRIBUTES}[`;

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
