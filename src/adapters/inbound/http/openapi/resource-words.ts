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
