import type { FacetValue } from '#packages/client/index.js';

/** A place in the tree of paths: a tag, or what is below a path. */
export interface TreeNode {
  /** What stands behind the path of the parent: `lamps`, or `lamps/` for a path. */
  readonly label: string;
  /** The whole tag, or the whole path with the `/` at its end. */
  readonly path: string;
  readonly isPath: boolean;
  /** The number of records. Of a path at least so many: a record may have several of the tags below it. */
  readonly count: number;
  /** Whether the count is exact. */
  readonly isExact: boolean;
}

/** The path in which a beginning lies: `lighting/` for `lighting/la`. */
export function pathOf(prefix: string): string {
  return prefix.slice(0, prefix.lastIndexOf('/') + 1);
}

/**
 * The tags and paths directly below a path, in the order of the counts, a path beside the tag of the same name.
 * @param values tags that begin with the path
 * @param areAll whether there are no more of them
 */
export function childrenOf(path: string, values: readonly FacetValue[], areAll: boolean): readonly TreeNode[] {
  const nodes = new Map<string, { readonly node: TreeNode; readonly tags: number }>();
  const places = new Map<string, number>();
  const nameOf = ({ label }: TreeNode) => label.replace(/\/$/, '');
  for (const { value, count } of values) {
    const rest = String(value).slice(path.length);
    const slash = rest.indexOf('/');
    const isTag = slash < 0;
    const label = isTag ? rest : rest.slice(0, slash + 1);
    const before = nodes.get(label);
    const tags = (before?.tags ?? 0) + 1;
    const node = {
      // A tag that ends in `/` stands below itself.
      label: label === '' ? path : label,
      path: path + label,
      isPath: !isTag,
      count: Math.max(before?.node.count ?? 0, count),
      isExact: isTag || (tags === 1 && areAll),
    };
    nodes.set(label, { node, tags });
    places.set(nameOf(node), places.get(nameOf(node)) ?? places.size);
  }
  const placeOf = (node: TreeNode) => places.get(nameOf(node)) ?? 0;
  return [...nodes.values()].map(({ node }) => node).sort((one, other) => placeOf(one) - placeOf(other));
}
