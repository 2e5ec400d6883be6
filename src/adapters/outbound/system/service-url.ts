import type { PublicUrl } from '../../../application/ports/public-url.js';

const LOCAL = /^https:\/\/localhost:[1-9]\d{0,4}$/;

/** The setting PUBLIC_URL. Without it: localhost and the port on which the service listens. */
export class ServiceUrl implements PublicUrl {
  private port: number;
  private readonly path: string;

  constructor(private readonly settings: { readonly PUBLIC_URL: string; readonly PORT: number }) {
    this.port = settings.PORT;
    this.path = new URL(this.url).pathname.replace(/\/$/, '');
  }

  listensOn(port: number): void {
    this.port = port;
  }

  get url(): string {
    return this.settings.PUBLIC_URL || `https://localhost:${this.port}`;
  }

  addressOf(path: string): string {
    return `${this.path}${path}`;
  }

  /** Without PUBLIC_URL, each replica has the URL of its own port, so every port of localhost is one of ours. */
  isOurs(url: string): boolean {
    return this.settings.PUBLIC_URL === '' ? LOCAL.test(url) : url === this.settings.PUBLIC_URL;
  }
}
