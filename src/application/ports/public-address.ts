/** Under which address clients know the service. It is the name of the issuer of tokens too. */
export interface PublicAddress {
  /** Without a slash at the end. */
  readonly url: string;
  /** Whether a replica on the same store may go by this name. */
  isOurs(url: string): boolean;
}
