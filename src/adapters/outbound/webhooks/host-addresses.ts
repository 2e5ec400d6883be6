import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** @param signal ends it early */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly ResolvedAddress[]>;

/** What tests replace. */
export interface NameSources {
  /** The text of the hosts file: hosts(5). */
  readonly hosts: () => Promise<string>;
  /** The text of the configuration of DNS: resolv.conf(5). Empty: there is none. */
  readonly configuration: () => Promise<string>;
  /** Asks DNS for a fully qualified name. Any error but {@link NO_SERVER}: it has no such address. */
  readonly ask: (name: string, family: 4 | 6, signal: AbortSignal) => Promise<readonly string[]>;
}

/** The code of `dns` if no server of DNS takes questions: no name can be looked up. */
export const NO_SERVER = 'ECONNREFUSED';

const SYSTEM: NameSources = {
  hosts: () => textOf('/etc/hosts'),
  configuration: () => textOf('/etc/resolv.conf'),
  ask: askDns,
};

/**
 * Returns the addresses of a name: those in the hosts file, else those that DNS has, IPv4 first. DNS is asked without
 * one of the four threads of libuv, which `dns.lookup` would hold until the system gives up: a name whose servers do not
 * respond costs nobody else anything. Other sources that a system may have, such as mDNS and LDAP, are not asked.
 * @throws Error if a file cannot be read, as with `EMFILE`, or with the code {@link NO_SERVER}
 */
export async function hostAddresses(
  host: string,
  signal: AbortSignal,
  { hosts, configuration, ask }: NameSources = SYSTEM,
): Promise<readonly ResolvedAddress[]> {
  const listed = listedAddresses(await hosts(), host.replace(/\.$/, ''));
  if (listed.length > 0) return listed;
  for (const name of qualifiedNames(host, await configuration())) {
    const answers = await Promise.all(
      ([4, 6] as const).map(async (family) => {
        const addresses = await ask(name, family, signal).catch((error: NodeJS.ErrnoException) => {
          if (error.code === NO_SERVER) throw error;
          return [];
        });
        return addresses.map((address) => ({ address, family }));
      }),
    );
    if (answers.some(({ length }) => length > 0)) return answers.flat();
    if (signal.aborted) break;
  }
  return [];
}

function listedAddresses(hosts: string, host: string): ResolvedAddress[] {
  const text = hosts.toLowerCase();
  // Most names are not in it, and it may have many thousand lines.
  if (!text.includes(host)) return [];
  const lines = text.split('\n').map((line) => line.replace(/#.*/, '').trim().split(/\s+/));
  const addresses = lines.filter(([, ...names]) => names.includes(host)).map(([address = '']) => address);
  return [...new Set(addresses)]
    .map((address) => ({ address, family: isIP(address) }))
    .filter(({ family }) => family > 0);
}

/** Returns the names to ask for, in order: resolv.conf(5), `search` and `ndots`. The last `search` or `domain` counts. */
function qualifiedNames(host: string, configuration: string): string[] {
  if (host.endsWith('.')) return [host.slice(0, -1)];
  const lines = configuration.split('\n').map((line) => line.trim().split(/\s+/));
  const [, ...domains] = lines.findLast(([word]) => word === 'search' || word === 'domain') ?? [];
  const options = lines.filter(([word]) => word === 'options').flat();
  const dots = Number(options.findLast((option) => /^ndots:\d+$/.test(option))?.slice('ndots:'.length) ?? 1);
  const searched = domains.filter((domain) => domain !== '.').map((domain) => `${host}.${domain}`);
  return host.split('.').length > dots ? [host, ...searched] : [...searched, host];
}

/** Each question has a channel of its own, which reads the servers anew and ends with it. */
async function askDns(name: string, family: 4 | 6, signal: AbortSignal): Promise<string[]> {
  const resolver = new Resolver({ timeout: 1_500, tries: 2 });
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name));
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
