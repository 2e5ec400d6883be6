import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Clock } from '../../../application/ports/clock.js';
import { createAuthority, endOfValidity, issueServerCertificate, type Pem } from './local-authority.js';

const DAY_MS = 86_400_000;
const RENEW_BEFORE_MS = 30 * DAY_MS;

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
export class SelfSignedCertificates {
  /** For clients to trust: the CA's certificate. */
  readonly authorityFile: string;

  constructor(
    private readonly folder: string,
    private readonly clock: Clock,
  ) {
    this.authorityFile = resolve(folder, AUTHORITY_FILE);
  }

  /** Makes or renews what is missing or has under 30 days left. */
  async current(): Promise<ServerIdentity> {
    const identity = (await this.read()) ?? (await this.found());
    if (this.isFresh(identity.cert)) return identity;
    return this.renew();
  }

  private async read(): Promise<ServerIdentity | undefined> {
    const text = await this.text(SERVER_FILE);
    if (text === undefined) return undefined;
    const end = text.indexOf('-----BEGIN CERTIFICATE');
    if (end <= 0) throw this.damaged();
    return { key: text.slice(0, end), cert: text.slice(end) };
  }

  private async found(): Promise<ServerIdentity> {
    await this.install(async (folder) => {
      const authority = await createAuthority(this.clock.now());
      await writeFile(join(folder, AUTHORITY_FILE), authority.certificate, { mode: 0o644 });
      await writePrivate(join(folder, AUTHORITY_KEY_FILE), authority.key);
      await writePrivate(join(folder, SERVER_FILE), await this.issue(authority));
    });
    const identity = await this.read();
    if (!identity) throw this.damaged();
    return identity;
  }

  private async renew(): Promise<ServerIdentity> {
    const certificate = await this.text(AUTHORITY_FILE);
    const key = await this.text(AUTHORITY_KEY_FILE);
    if (!certificate || !key) throw this.damaged();
    if (this.isFresh(certificate)) await this.replaceServer({ certificate, key });
    else await this.retire(certificate);
    return this.current();
  }

  private async replaceServer(authority: Pem): Promise<void> {
    const aside = join(this.folder, `${SERVER_FILE}.${randomBytes(4).toString('hex')}`);
    await writePrivate(aside, await this.issue(authority));
    await rename(aside, join(this.folder, SERVER_FILE));
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

  private damaged(): Error {
    return new Error(
      `The certificates in ${this.folder} are damaged; delete the folder to start with a new CA.`,
    );
  }

  private isFresh(certificate: string): boolean {
    return endOfValidity(certificate) - this.clock.now() > RENEW_BEFORE_MS;
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
