import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Chain } from './certificate-chain.js';
import { HttpClient } from './http-client.js';
import { FIRST_KEY } from './running-service.js';
import { SpawnedService } from './spawned-service.js';

/** Where a service under `TLS=files` looks, within its folder. */
export const FILES = { TLS_CERT_FILE: 'cert.pem', TLS_KEY_FILE: 'key.pem' };

/** The program, with whatever certificate lies in its folder. */
export class CertifiedService extends SpawnedService {
  private port = 0;

  constructor(folder: string) {
    super(folder, { TLS: 'files', ...FILES, STORE: 'memory', BOOTSTRAP_API_KEY: FIRST_KEY });
  }

  async listening(): Promise<number> {
    this.port = Number((await this.says(/listens on https:\/\/localhost:(\d+)/))[1]);
    return this.port;
  }

  /** A client that trusts this pair's authority and no other. */
  client({ authority }: Chain): HttpClient {
    const file = join(this.folder, 'trusted.pem');
    writeFileSync(file, authority);
    return new HttpClient(this.port, file, FIRST_KEY);
  }
}
