/** RFC 9110 section 8.4.1: the codings that answers come in, beside none. */
export type Coding = 'br' | 'gzip';

/** RFC 9110 sections 12.4.2 and 12.5.3: a coding, perhaps with a weight. */
const ELEMENT = /^([!#$%&'*+.^_`|~0-9a-z-]+)(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/;

/**
 * The coding that a client likes best, where it likes one at least as well as none. Of equals it is br, the smaller at
 * about the same cost. Whoever names no coding but `*` gets gzip, which everyone knows; who names none of ours gets none,
 * even where `identity` is refused.
 */
export function preferredCoding(acceptEncoding: string): Coding | undefined {
  const weights = weightsIn(acceptEncoding);
  const other = weights.get('*') ?? 0;
  const [br, gzip, none] = [
    weights.get('br') ?? 0,
    weights.get('gzip') ?? other,
    weights.get('identity') ?? other,
  ];
  const best = Math.max(br, gzip);
  if (best === 0 || best < none) return undefined;
  return br === best ? 'br' : 'gzip';
}

/** Nothing where any of it cannot be read: what the client takes is then anyone's guess. */
function weightsIn(acceptEncoding: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const element of acceptEncoding.toLowerCase().split(',')) {
    const text = element.trim();
    if (text === '') continue;
    const [, coding, weight = '1'] = ELEMENT.exec(text) ?? [];
    if (coding === undefined) return new Map();
    weights.set(coding, Number(weight));
  }
  return weights;
}
