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
  /** By the names, a path beside the tag of the same name. */
  const groups = new Map<string, Map<string, TreeNode>>();
  for (const { value, count } of values) {
    const rest = String(value).slice(path.length);
    const slash = rest.indexOf('/');
    const isPath = slash >= 0;
    const name = isPath ? rest.slice(0, slash) : rest;
    const own = isPath ? `${name}/` : name;
    const group = groups.get(name) ?? new Map<string, TreeNode>();
    const before = group.get(own);
    groups.set(name, group);
    group.set(own, {
      // A tag that ends in `/` stands below itself.
      label: own === '' ? path : own,
      path: path + own,
      isPath,
      count: Math.max(before?.count ?? 0, count),
      isExact: !isPath || (!before && areAll),
    });
  }
  return [...groups.values()].flatMap((group) => [...group.values()]);
}
