const LOCAL = /^https:\/\/localhost:[1-9]\d{0,4}$/;

/**
 * The URL under which clients know the service, and the name of the token issuer: the setting PUBLIC_URL, else localhost
 * and the port on which the service listens.
 */
export class PublicUrl {
  private port: number;
  private readonly path: string;

  constructor(private readonly settings: { readonly PUBLIC_URL: string; readonly PORT: number }) {
    this.port = settings.PORT;
    this.path = new URL(this.url).pathname.replace(/\/$/, '');
  }

  listensOn(port: number): void {
    this.port = port;
  }

  /** Without a slash at the end. */
  get url(): string {
    return this.settings.PUBLIC_URL || `https://localhost:${this.port}`;
  }

  /**
   * Returns the address of a path of the service, without the host. Every address that a response gives out is made
   * here: it begins with the path of {@link url}, which a proxy removes.
   */
  addressOf(path: string): string {
    return `${this.path}${path}`;
  }

  /**
   * Whether a replica on the same store may have this URL. Without PUBLIC_URL, each replica has the URL of its own port,
   * so every port of localhost is one of ours.
   */
  isOurs(url: string): boolean {
    return this.settings.PUBLIC_URL === '' ? LOCAL.test(url) : url === this.settings.PUBLIC_URL;
  }
}
