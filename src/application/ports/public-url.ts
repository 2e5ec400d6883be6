/** The URL under which clients know the service. It is also the name of the token issuer. */
export interface PublicUrl {
  /** Without a slash at the end. */
  readonly url: string;
  /** Whether a replica on the same store may have this URL. */
  isOurs(url: string): boolean;
}
