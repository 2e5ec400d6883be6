import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import type { ServerIdentity } from './self-signed-certificates.js';

/** Files that changed are read once more after so long: what is still being written differs then. */
const SETTLE_MS = 200;

/** The message names the file and what is wrong with it, and quotes nothing. */
export class UnusableCertificate extends Error {}

/** A certificate (its chain behind it) and its key, in PEM, in files that somebody else renews. */
export class FileCertificates {
  private known: ServerIdentity | undefined;

  constructor(
    private readonly certFile: string,
    private readonly keyFile: string,
  ) {}

  /**
   * What the files hold now; while they are being written, what they held before.
   * @throws UnusableCertificate
   */
  async current(): Promise<ServerIdentity> {
    const identity = await this.read();
    if (this.known) {
      if (isSame(identity, this.known)) return this.known;
      await sleep(SETTLE_MS);
      if (!isSame(identity, await this.read())) return this.known;
    }
    this.check(identity);
    this.known = identity;
    return identity;
  }

  private async read(): Promise<ServerIdentity> {
    return { cert: await readText('certificate', this.certFile), key: await readText('key', this.keyFile) };
  }

  private check({ cert, key }: ServerIdentity): void {
    const certificate = parse('certificate', this.certFile, () => new X509Certificate(cert));
    const privateKey = parse('key', this.keyFile, () => createPrivateKey(key));
    // OpenSSL itself takes a pair of two different algorithms, and then fails at each handshake.
    if (!certificate.checkPrivateKey(privateKey))
      throw new UnusableCertificate(`the key ${this.keyFile} is not the one of ${this.certFile}`);
    parse('certificate', this.certFile, () => createSecureContext({ cert, key }));
  }
}

function isSame(one: ServerIdentity, other: ServerIdentity): boolean {
  return one.cert === other.cert && one.key === other.key;
}

async function readText(what: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw unusable(what, file, 'cannot be read', error);
  }
}

function parse<Result>(what: string, file: string, attempt: () => Result): Result {
  try {
    return attempt();
  } catch (error) {
    throw unusable(what, file, 'cannot be used', error);
  }
}

function unusable(what: string, file: string, trouble: string, error: unknown): UnusableCertificate {
  const reason = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
  return new UnusableCertificate(`the ${what} ${file} ${trouble}${reason}`);
}
