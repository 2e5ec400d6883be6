/** The URL under which clients know the service. It is also the name of the token issuer. */
export interface PublicUrl {
  /** Without a slash at the end. */
  readonly url: string;
  /**
   * Returns the address of a path of the service, without the host. Every address that a response gives out is made
   * here: it begins with the path of {@link url}, which a proxy removes.
   */
  addressOf(path: string): string;
  /** Whether a replica on the same store may have this URL. */
  isOurs(url: string): boolean;
}
