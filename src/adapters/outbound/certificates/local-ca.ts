import { createHash, randomBytes, X509Certificate } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import type { Clock } from '../../../application/ports/clock.js';
import { systemReason } from '../../../shared/shown-text.js';
import { CertificateError, type TlsIdentity } from './file-certificates.js';
import type { Pem } from './issue-certificates.js';

/** The names that every certificate holds. */
export const LOCAL_NAMES = ['localhost', '127.0.0.1', '::1'];

const DAY_MS = 86_400_000;
const RENEW_BEFORE_MS = 30 * DAY_MS;

/** Another process may change the files between two reads. Then they are read again. */
const MAX_ATTEMPTS = 10;

export const CA_FILE = 'ca.pem';
const CA_KEY_FILE = 'ca-key.pem';
/** Holds the server's key and certificate, so that both change at once. */
export const SERVER_FILE = 'server.pem';

/** A certificate, and the one of the CA that signed it. */
export interface LocalIdentity extends TlsIdentity {
  readonly authority: string;
}

/**
 * A local CA and its certificate for this machine, created once in a folder and then reused. A new folder is filled under
 * a temporary name and renamed into place, so that concurrent first starts share one CA.
 */
export class LocalCa {
  /** The path of the CA's certificate, which clients have to trust. */
  readonly authorityFile: string;
  private readonly names: readonly string[];

  /**
   * @param names the host names and addresses that the certificate holds besides {@link LOCAL_NAMES}; an IPv6 address
   * holds no IPv4 address in its text
   */
  constructor(
    private readonly folder: string,
    private readonly clock: Clock,
    names: readonly string[] = [],
  ) {
    this.authorityFile = resolve(folder, CA_FILE);
    this.names = [...new Set([...LOCAL_NAMES, ...names])];
  }

  /**
   * Returns the certificate of the server. Creates or renews a certificate that is missing, not yet valid, valid for
   * less than 30 days or without one of the names; the CA's certificate is renewed by a new CA.
   * @throws CertificateError if the files are damaged or cannot be used; its message says what to do
   */
  async current(): Promise<LocalIdentity> {
    try {
      return await this.readOrRenew();
    } catch (error) {
      if (!(error instanceof Error && 'errno' in error)) throw error;
      const message = `DATA_DIR: the certificates in ${this.folder} cannot be used: ${systemReason(error)}.`;
      throw new CertificateError(message, { cause: error });
    }
  }

  private async readOrRenew(): Promise<LocalIdentity> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const identity = await this.readServer();
      const ca = await this.read(CA_FILE);
      if (!identity) await this.createCa();
      else if (ca === undefined) continue;
      else if (!this.isValidForLong(ca)) await this.retireCa(ca);
      else if (!this.isUsable(identity.cert, ca)) await this.replaceServer(ca);
      else return { ...identity, authority: ca };
    }
    throw this.damaged();
  }

  private async readServer(): Promise<TlsIdentity | undefined> {
    const text = await this.read(SERVER_FILE);
    if (text === undefined) return undefined;
    const end = text.indexOf('-----BEGIN CERTIFICATE');
    if (end <= 0) throw this.damaged();
    return { key: text.slice(0, end), cert: text.slice(end) };
  }

  private async createCa(): Promise<void> {
    const { createCa } = await certificateIssuer();
    const temporary = `${this.folder}.${randomBytes(4).toString('hex')}.new`;
    // Not recursive: in a working directory that was deleted, Node's recursive `mkdir` never returns.
    await mkdir(temporary, { mode: 0o700 });
    try {
      const ca = await createCa(this.clock.now());
      await writeFile(join(temporary, CA_FILE), ca.certificate, { mode: 0o644 });
      await writePrivate(join(temporary, CA_KEY_FILE), ca.key);
      await writePrivate(join(temporary, SERVER_FILE), await this.issueServer(ca));
      await rename(temporary, this.folder);
    } catch (error) {
      await rm(temporary, { recursive: true, force: true });
      if (!isFolderTaken(error)) throw error;
    }
  }

  /** Does nothing if the CA's key or the folder is missing: then another process is replacing the CA. */
  private async replaceServer(certificate: string): Promise<void> {
    const key = await this.read(CA_KEY_FILE);
    if (key === undefined) return;
    const server = await this.issueServer({ certificate, key }).catch((error) => {
      throw this.damaged(error);
    });
    const temporary = join(this.folder, `${SERVER_FILE}.${randomBytes(4).toString('hex')}`);
    await writePrivate(temporary, server)
      .then(() => rename(temporary, join(this.folder, SERVER_FILE)))
      .catch(ignoreMissing);
  }

  /** Moves the folder to a name made from its CA, so that a slower process cannot move the new CA away. */
  private async retireCa(certificate: string): Promise<void> {
    const fingerprint = createHash('sha256').update(certificate).digest('hex').slice(0, 16);
    await rename(this.folder, `${this.folder}.${fingerprint}.old`).catch((error: unknown) => {
      if (!isFolderTaken(error)) ignoreMissing(error);
    });
  }

  private async issueServer(ca: Pem): Promise<string> {
    const { issueServerCertificate } = await certificateIssuer();
    const server = await issueServerCertificate(ca, this.names, this.clock.now());
    return `${server.key}\n${server.certificate}\n`;
  }

  private damaged(cause?: unknown): CertificateError {
    const message = `DATA_DIR: the certificates in ${this.folder} are damaged; delete the folder to start with a new CA.`;
    return new CertificateError(message, { cause });
  }

  private isUsable(certificate: string, ca: string): boolean {
    return this.isValidForLong(certificate) && this.isSignedBy(ca, certificate) && this.holdsNames(certificate);
  }

  private holdsNames(certificate: string): boolean {
    const parsed = this.parse(certificate);
    return this.names.every((name) =>
      isIP(name) ? parsed.checkIP(name) : parsed.checkHost(name, { subject: 'never', wildcards: false }),
    );
  }

  private isValidForLong(certificate: string): boolean {
    const { validFrom, validTo } = this.parse(certificate);
    const now = this.clock.now();
    return Date.parse(validFrom) <= now && Date.parse(validTo) - now > RENEW_BEFORE_MS;
  }

  private isSignedBy(ca: string, certificate: string): boolean {
    return this.parse(certificate).verify(this.parse(ca).publicKey);
  }

  private parse(certificate: string): X509Certificate {
    try {
      return new X509Certificate(certificate);
    } catch (error) {
      throw this.damaged(error);
    }
  }

  private read(file: string): Promise<string | undefined> {
    return readFile(join(this.folder, file), 'utf8').catch(ignoreMissing);
  }
}

/** Loaded on demand: its library takes about 0.1 s of CPU, and most starts find valid certificates. */
function certificateIssuer() {
  return import('./issue-certificates.js');
}

function writePrivate(file: string, text: string): Promise<void> {
  return writeFile(file, text, { mode: 0o600 });
}

function isFolderTaken(error: unknown): boolean {
  return hasCode(error, 'ENOTEMPTY') || hasCode(error, 'EEXIST');
}

function ignoreMissing(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT')) throw error;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
