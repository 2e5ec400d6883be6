import { createHash, randomBytes, X509Certificate } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Clock } from '../../../application/ports/clock.js';
import { createAuthority, issueServerCertificate, type Pem } from './issue-certificates.js';

const DAY_MS = 86_400_000;
const RENEW_BEFORE_MS = 30 * DAY_MS;

/** Another process can change the files between two reads; then they are read again. */
const MAX_ATTEMPTS = 10;

const AUTHORITY_FILE = 'ca.pem';
const AUTHORITY_KEY_FILE = 'ca-key.pem';
/** Key and certificate in one file, so that they change together. */
const SERVER_FILE = 'server.pem';

/** What a TLS server shows: PEM texts, the certificate first. */
export interface ServerIdentity {
  readonly cert: string;
  readonly key: string;
}

/**
 * A local CA and a certificate for localhost, made once under a folder and reused. The folder is filled aside and then
 * renamed into place, so that of several processes that start together one makes the CA and the others take it.
 */
export class LocalCa {
  /** For clients to trust: the CA's certificate. */
  readonly authorityFile: string;

  constructor(
    private readonly folder: string,
    private readonly clock: Clock,
  ) {
    this.authorityFile = resolve(folder, AUTHORITY_FILE);
  }

  /**
   * Makes or renews what is missing, not yet valid or has under 30 days left: the server's certificate, or all with a new CA.
   * @throws Error where the files are damaged; its message says what to do
   */
  async current(): Promise<ServerIdentity> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const identity = await this.read();
      const authority = await this.text(AUTHORITY_FILE);
      if (!identity) await this.found();
      else if (authority === undefined) continue;
      else if (!this.isGood(authority)) await this.retire(authority);
      else if (!this.isGood(identity.cert) || !this.isSigned(identity.cert, authority))
        await this.replaceServer(authority);
      else return identity;
    }
    throw this.damaged();
  }

  private async read(): Promise<ServerIdentity | undefined> {
    const text = await this.text(SERVER_FILE);
    if (text === undefined) return undefined;
    const end = text.indexOf('-----BEGIN CERTIFICATE');
    if (end <= 0) throw this.damaged();
    return { key: text.slice(0, end), cert: text.slice(end) };
  }

  private async found(): Promise<void> {
    await this.install(async (folder) => {
      const authority = await createAuthority(this.clock.now());
      await writeFile(join(folder, AUTHORITY_FILE), authority.certificate, { mode: 0o644 });
      await writePrivate(join(folder, AUTHORITY_KEY_FILE), authority.key);
      await writePrivate(join(folder, SERVER_FILE), await this.issue(authority));
    });
  }

  /** Does nothing where the key is missing, or the folder is, because another process begins a new one. */
  private async replaceServer(certificate: string): Promise<void> {
    const key = await this.text(AUTHORITY_KEY_FILE);
    if (key === undefined) return;
    const server = await this.issue({ certificate, key }).catch((error) => {
      throw this.damaged(error);
    });
    const aside = join(this.folder, `${SERVER_FILE}.${randomBytes(4).toString('hex')}`);
    await writePrivate(aside, server)
      .then(() => rename(aside, join(this.folder, SERVER_FILE)))
      .catch(ignoreMissing);
  }

  /** The new name comes from the old CA: a process that comes late finds it taken, and leaves the new CA alone. */
  private async retire(certificate: string): Promise<void> {
    const fingerprint = createHash('sha256').update(certificate).digest('hex').slice(0, 16);
    await rename(this.folder, `${this.folder}.${fingerprint}.old`).catch((error: unknown) => {
      if (!isTaken(error)) ignoreMissing(error);
    });
  }

  private async install(fill: (folder: string) => Promise<void>): Promise<void> {
    const aside = `${this.folder}.${randomBytes(4).toString('hex')}.new`;
    await mkdir(aside, { recursive: true, mode: 0o700 });
    try {
      await fill(aside);
      await rename(aside, this.folder);
    } catch (error) {
      await rm(aside, { recursive: true, force: true });
      if (!isTaken(error)) throw error;
    }
  }

  private async issue(authority: Pem): Promise<string> {
    const server = await issueServerCertificate(authority, this.clock.now());
    return `${server.key}\n${server.certificate}\n`;
  }

  private damaged(cause?: unknown): Error {
    const message = `The certificates in ${this.folder} are damaged; delete the folder to start with a new CA.`;
    return new Error(message, { cause });
  }

  private isGood(certificate: string): boolean {
    const { validFrom, validTo } = this.parsed(certificate);
    const now = this.clock.now();
    return Date.parse(validFrom) <= now && Date.parse(validTo) - now > RENEW_BEFORE_MS;
  }

  private isSigned(certificate: string, authority: string): boolean {
    return this.parsed(certificate).verify(this.parsed(authority).publicKey);
  }

  private parsed(certificate: string): X509Certificate {
    try {
      return new X509Certificate(certificate);
    } catch (error) {
      throw this.damaged(error);
    }
  }

  private text(file: string): Promise<string | undefined> {
    return readFile(join(this.folder, file), 'utf8').catch(ignoreMissing);
  }
}

function writePrivate(file: string, text: string): Promise<void> {
  return writeFile(file, text, { mode: 0o600 });
}

function isTaken(error: unknown): boolean {
  return hasCode(error, 'ENOTEMPTY') || hasCode(error, 'EEXIST');
}

function ignoreMissing(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT')) throw error;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
