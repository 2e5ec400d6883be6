import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.js';
import { HttpClient } from './http-client.js';
import { FIRST_KEY } from './in-process-service.js';
import { until } from './until.js';

/** The address of each proxy, and of the service. */
export const LOOPBACK = '127.0.0.1';

/** Where a proxy runs, and the service behind it. */
export interface Place {
  /** Holds the certificate for localhost as `server.pem`. */
  readonly folder: string;
  readonly https: number;
  /** The port of the service, which listens in plain HTTP. */
  readonly service: number;
  readonly management: number;
}

/** How to start a proxy in a place. */
export interface ReverseProxy {
  /** The Debian package. */
  readonly from: string;
  readonly command: (place: Place) => readonly string[];
  readonly environment?: (place: Place) => Readonly<Record<string, string>>;
}

/** @param http the content of the block `http` */
export function nginx(http: (place: Place) => string): ReverseProxy {
  return {
    from: 'nginx-light',
    command: (place) => {
      const { folder } = place;
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
      const temp = paths.map((name) => `${name}_temp_path ${join(folder, name)};`).join('\n');
      const own = `daemon off; user ${userInfo().username}; pid ${join(folder, 'nginx.pid')}; events {}`;
      const file = written(place, `${own}\nhttp {\naccess_log off;\n${temp}\n${http(place)}\n}\n`);
      return ['nginx', '-e', 'stderr', '-c', file];
    },
  };
}

/** @param server the content of the block `server`, without its address and certificate */
export function nginxServer({ folder, https }: Place, server: string): string {
  const pem = join(folder, 'server.pem');
  return `server { listen ${LOOPBACK}:${https} ssl; ssl_certificate ${pem}; ssl_certificate_key ${pem};\n${server}\n}`;
}

/** The file under `deploy` for one place. */
export function shippedNginx({ folder, https, service }: Place): string {
  const live = '/etc/letsencrypt/live/catalogue.example.com';
  return replaced('deploy/nginx/product-catalogue.conf', [
    ['server 127.0.0.1:8443;', `server ${LOOPBACK}:${service};`],
    ['listen 443 ssl;', `listen ${LOOPBACK}:${https} ssl;`],
    ['  listen [::]:443 ssl;\n', ''],
    [`${live}/fullchain.pem`, join(folder, 'server.pem')],
    [`${live}/privkey.pem`, join(folder, 'server.pem')],
  ]);
}

export function caddy(caddyfile: (place: Place) => string): ReverseProxy {
  return {
    from: 'caddy',
    command: (place) => ['caddy', 'run', '--config', written(place, caddyfile(place)), '--adapter', 'caddyfile'],
  };
}

/** `freePort` holds the port for UDP, so there is no HTTP/3. */
const CADDY_OPTIONS = '{\n\tadmin off\n\tauto_https disable_redirects\n\tservers {\n\t\tprotocols h1 h2\n';

/** A Caddyfile with one site. */
export function caddySite(place: Place, site: string): string {
  return `${CADDY_OPTIONS}\t}\n}\n${siteOf(place)}${site}\n}\n`;
}

function siteOf({ folder, https }: Place): string {
  const pem = join(folder, 'server.pem');
  return `https://localhost:${https} {\n\tbind ${LOOPBACK}\n\ttls ${pem} ${pem}\n`;
}

/** The file under `deploy` for one place. */
export function shippedCaddy(place: Place): string {
  return replaced('deploy/caddy/Caddyfile', [
    ['reverse_proxy 127.0.0.1:8443 {', `reverse_proxy ${LOOPBACK}:${place.service} {`],
    ['catalogue.example.com {\n', siteOf(place)],
    ['{\n\tservers {\n', CADDY_OPTIONS],
  ]);
}

export function haproxy(
  config: (place: Place) => string,
  environment: ReverseProxy['environment'] = () => ({}),
): ReverseProxy {
  return { from: 'haproxy', command: (place) => ['haproxy', '-db', '-f', written(place, config(place))], environment };
}

/** The text of a file with other parts. Each part must occur. */
export function replaced(file: string, parts: readonly (readonly [string, string])[]): string {
  let text = readFileSync(file, 'utf8');
  for (const [part, other] of parts) {
    if (!text.includes(part)) throw new Error(`${file} has no ${part}`);
    text = text.replace(part, () => other);
  }
  return text;
}

function written({ folder, https }: Place, text: string): string {
  const file = join(folder, `proxy-${https}.conf`);
  writeFileSync(file, text);
  return file;
}

/** A proxy that runs. */
export class RunningProxy {
  private constructor(
    /** Sends the first key. */
    readonly client: HttpClient,
    readonly port: number,
    private readonly child: ChildProcess,
  ) {}

  /**
   * Returns when the service responds through the proxy.
   * @param folder gets the files of the proxy and the certificate
   * @param ready an address that responds 200
   */
  static async start(
    proxy: ReverseProxy,
    folder: string,
    { port, managementPort = 0 }: { readonly port: number; readonly managementPort?: number },
    ready = '/health/ready',
  ): Promise<RunningProxy> {
    const CERTIFICATE_FOLDER = folder;
    execFileSync('config/make-certificate.sh', { env: { ...process.env, CERTIFICATE_FOLDER } });
    const place = { folder, https: await freePort(), service: port, management: managementPort };
    const [command = '', ...args] = proxy.command(place);
    const home = join(folder, 'home');
    mkdirSync(home, { recursive: true });
    const child = spawn(command, args, {
      env: { PATH: process.env['PATH'], HOME: home, ...proxy.environment?.(place) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let log = '';
    child.on('error', (error) => {
      log += `${error}; on Debian: apt-get install -y ${proxy.from}`;
    });
    child.stderr?.on('data', (chunk) => (log += chunk));
    const client = new HttpClient(place.https, join(folder, 'localhost.pem'), FIRST_KEY);
    const running = new RunningProxy(client, place.https, child);
    const serves = async () => (await client.get(ready, { token: null })).status === 200;
    const ended = once(child, 'close').then(() => Promise.reject(new Error(`${command} ended`)));
    await Promise.race([until(`${command} serves`, serves), ended]).catch(async (error) => {
      await running.stop();
      throw new Error(`${error}\n${log}`);
    });
    ended.catch(() => {});
    return running;
  }

  async stop(): Promise<void> {
    this.client.close();
    // SIGKILL would leave the worker of nginx behind.
    if (this.child.exitCode === null && this.child.kill('SIGTERM')) await once(this.child, 'close');
  }
}
