/** How a resource is spoken of to whoever writes a client. */
export interface ResourceWords {
  /** In names of schemas and operations: `Product`. */
  readonly name: string;
  /** In sentences, with its article: `a product`. */
  readonly one: string;
  readonly many: string;
  readonly about: string;
  /** What a client could send. */
  readonly example: Readonly<Record<string, unknown>>;
}

/** The heading over all that can be done with the resource. */
export function tagOf({ many }: ResourceWords): string {
  return many.charAt(0).toUpperCase() + many.slice(1);
}
