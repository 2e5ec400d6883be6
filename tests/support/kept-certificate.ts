import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files of the first self-signed certificate that a service of these tests made. Each takes time to make. */
let certificate: ReadonlyMap<string, Buffer> | undefined;

/** Whether a service with these settings has the certificate of others: no setting decides its names or its folder. */
export function hasUsualCertificate(environment: Readonly<Record<string, string>>): boolean {
  return !['TLS', 'TLS_NAMES', 'PUBLIC_URL'].some((name) => name in environment);
}

/** Keeps the certificate in a data folder for later services. */
export function keepCertificate(folder: string): void {
  const tls = join(folder, 'tls');
  certificate ??= new Map(readdirSync(tls).map((file) => [file, readFileSync(join(tls, file))]));
}

/** Writes the certificate that is kept into a data folder that has none, so that its service makes no other. */
export function writeCertificate(folder: string): void {
  const tls = join(folder, 'tls');
  if (!certificate || existsSync(tls)) return;
  mkdirSync(tls, { recursive: true, mode: 0o700 });
  for (const [file, bytes] of certificate) writeFileSync(join(tls, file), bytes, { mode: 0o600 });
}
