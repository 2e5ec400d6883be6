import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { type Diagnosis, ok, warning, wrong } from '../../../application/ports/diagnostics.js';
import { systemReason } from '../../../shared/shown-text.js';
import { CertificateError, checkKeyPair, type PairFiles, readPair } from './file-certificates.js';
import { CA_FILE, LOCAL_NAMES, SERVER_FILE } from './local-ca.js';

const DAY_MS = 86_400_000;
const SOON_DAYS = 30;

/**
 * Examines the self-signed certificate and its CA, and creates nothing.
 * @param names the names that the settings add
 */
export async function checkLocalCa(folder: string, names: readonly string[], now: number): Promise<Diagnosis[]> {
  const remedy = `stop the service and delete the folder ${folder}; clients must then trust the new CA`;
  try {
    const server = await textIn(folder, SERVER_FILE);
    const authority = await textIn(folder, CA_FILE);
    if (server === undefined && authority === undefined)
      return [ok('certificate', `there is none in ${folder} yet; the first start makes it, with a CA`)];
    if (server === undefined || authority === undefined)
      return [wrong('certificate', `the certificates in ${folder} are incomplete`, remedy)];
    const own = new X509Certificate(server.slice(server.indexOf('-----BEGIN CERTIFICATE')));
    const ca = new X509Certificate(authority);
    const missing = missingNames(own, [...LOCAL_NAMES, ...names]);
    if (!own.verify(ca.publicKey))
      return [wrong('certificate', `${SERVER_FILE} in ${folder} is of another CA`, remedy)];
    return [
      ...(missing.length > 0
        ? [warning('certificate', `it lacks ${missing.join(', ')}`, 'the next start issues another one by the same CA')]
        : [ok('certificate', `it holds ${shownNames(own)}`)]),
      renewed('it', own, now),
      renewed(`its CA, ${join(folder, CA_FILE)},`, ca, now),
    ];
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if ('errno' in error)
      return [
        wrong(
          'certificate',
          `the files in ${folder} cannot be read: ${systemReason(error)}`,
          'run this as the user of the service',
        ),
      ];
    return [wrong('certificate', `the files in ${folder} are damaged`, remedy)];
  }
}

/**
 * Examines the pair of `TLS=files`.
 * @param names the hosts of the settings, which clients use
 */
export async function checkFiles(files: PairFiles, names: readonly string[], now: number): Promise<Diagnosis[]> {
  try {
    const certificate = checkKeyPair(files, await readPair(files));
    const missing = missingNames(certificate, names);
    return [
      missing.length > 0
        ? warning(
            'certificate',
            `${files.certFile} holds ${shownNames(certificate)}, but not ${missing.join(', ')} of PUBLIC_URL`,
            'clients will refuse it under that name; get a certificate for it',
          )
        : ok('certificate', `the pair fits, and holds ${shownNames(certificate)}`),
      expiring(certificate, now),
    ];
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
    return [wrong('certificate', error.message, 'correct the files; the service takes the new pair without a restart')];
  }
}

async function textIn(folder: string, file: string): Promise<string | undefined> {
  return readFile(join(folder, file), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

function missingNames(certificate: X509Certificate, names: readonly string[]): string[] {
  return names.filter((name) =>
    isIP(name) ? !certificate.checkIP(name) : !certificate.checkHost(name, { subject: 'never' }),
  );
}

function shownNames({ subjectAltName = 'no name' }: X509Certificate): string {
  const names = subjectAltName.split(', ').map((name) => name.replace(/^(?:DNS|IP Address):/, ''));
  return names.map((name) => (isIP(name) === 6 ? shortened(name) : name)).join(', ');
}

/** `::1` for `0:0:0:0:0:0:0:1`, as people write it. */
function shortened(address: string): string {
  return new URL(`https://[${address}]`).hostname.slice(1, -1);
}

/** The service renews these by itself. */
function renewed(what: string, { validFrom, validTo }: X509Certificate, now: number): Diagnosis {
  const days = daysUntil(validTo, now);
  const message = `${what} is valid until ${dateOf(validTo)} (${days} days)`;
  if (Date.parse(validFrom) <= now && days > SOON_DAYS) return ok('certificate', message);
  const remedy = 'the service renews it at its start and within a minute while it runs';
  return warning('certificate', `${what} is valid from ${dateOf(validFrom)} to ${dateOf(validTo)}`, remedy);
}

/** The owner renews this. */
function expiring({ validFrom, validTo }: X509Certificate, now: number): Diagnosis {
  const days = daysUntil(validTo, now);
  const message = `it is valid from ${dateOf(validFrom)} to ${dateOf(validTo)}`;
  if (Date.parse(validFrom) > now) return wrong('certificate', `${message}, so not yet`, 'check the clock');
  if (days < 0) return wrong('certificate', `${message}: it has expired`, 'replace both files now');
  return days > SOON_DAYS
    ? ok('certificate', `${message} (${days} days)`)
    : warning('certificate', `${message}: ${days} days`, 'renew it soon');
}

function daysUntil(time: string, now: number): number {
  return Math.floor((Date.parse(time) - now) / DAY_MS);
}

function dateOf(time: string): string {
  return new Date(time).toISOString().slice(0, 10);
}
