import type { PublicAddress } from '../application/ports/public-address.js';
import type { Settings } from '../config/settings.js';

const LOCAL = /^https:\/\/localhost:[1-9]\d{0,4}$/;

/** As the settings name it; else this machine's, with the port that the service listens on in the end. */
export class ServiceAddress implements PublicAddress {
  private port: number;

  constructor(private readonly settings: Pick<Settings, 'PUBLIC_URL' | 'PORT'>) {
    this.port = settings.PORT;
  }

  listensOn(port: number): void {
    this.port = port;
  }

  get url(): string {
    return this.settings.PUBLIC_URL || `https://localhost:${this.port}`;
  }

  /** Without a name of its own, a replica has that of its port: whatever port another has, it is one of ours. */
  isOurs(url: string): boolean {
    return this.settings.PUBLIC_URL === '' ? LOCAL.test(url) : url === this.settings.PUBLIC_URL;
  }
}
