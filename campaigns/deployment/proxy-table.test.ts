import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { describeProxy } from '../../tests/support/proxy-contract.js';
import {
  caddy,
  caddySite,
  LOOPBACK,
  nginx,
  nginxServer,
  type Place,
  shippedCaddy,
  shippedNginx,
} from '../../tests/support/reverse-proxies.js';

const PREFIX = '/catalogue';
const GUIDE = readFileSync('docs/how-to/production.md', 'utf8');
const GZIP = 'gzip on;\ngzip_types application/json;\ngzip_proxied any;\n';

interface Ingress {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
}

/** nginx with what it needs to pass requests on, and nothing else. */
const nginxAsItComes = (place: Place, settings = '') =>
  nginxServer(
    place,
    `${settings}
    location / {
      proxy_pass http://${LOOPBACK}:${place.service};
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-Proto $scheme;
    }`,
  );

describeProxy('nginx as it comes', { proxy: nginx(nginxAsItComes) });
describeProxy('nginx with gzip', { proxy: nginx((place) => GZIP + nginxAsItComes(place)), altersTags: true });

/** An outer nginx that compresses, in front of an inner one, which appends to X-Forwarded-Proto. */
describeProxy('two nginx in a row', {
  proxy: nginx((place) => {
    const inner = `unix:${place.folder}/inner`;
    const append = 'proxy_set_header X-Forwarded-Proto "$http_x_forwarded_proto, https";';
    return `${GZIP}${nginxServer(
      place,
      `location / { proxy_pass http://${inner}; proxy_http_version 1.1; proxy_set_header X-Forwarded-Proto https; }`,
    )}
    server {
      listen ${inner};
      location / { proxy_pass http://${LOOPBACK}:${place.service}; ${append} }
    }`;
  }),
  altersTags: true,
});

describeProxy('the file of deploy/nginx, in a block http with gzip', {
  proxy: nginx((place) => GZIP + shippedNginx(place)),
  carriesAll: true,
});

describeProxy('the file of deploy/nginx, under a path', {
  proxy: nginx((place) => {
    const [, map = '', location = '', target = ''] =
      /```nginx\n(map .*)\n(location \S+ \{) (proxy_pass \S+;) … \}\n```/.exec(GUIDE) ?? [];
    const file = shippedNginx(place);
    const changed = file
      .replace('location / {', () => location)
      .replace('proxy_pass http://product_catalogue;', () => target);
    return `${map}\n${changed}`;
  }),
  carriesAll: true,
  prefix: PREFIX,
});

/**
 * The annotations of an Ingress as directives, and the defaults of ingress-nginx, as its documentation lists them:
 * https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/configmap/.
 */
function ingressNginx(place: Place, annotations: Readonly<Record<string, string>>, headerBuffers: string): string {
  const settings: Record<string, string> = {
    'proxy-body-size': '1m',
    'proxy-buffer-size': '4k',
    'proxy-buffering': 'off',
    'proxy-request-buffering': 'on',
    'proxy-connect-timeout': '5s',
    'proxy-read-timeout': '60s',
    'proxy-send-timeout': '60s',
    'proxy-http-version': '1.1',
    ...Object.fromEntries(Object.entries(annotations).map(([name, value]) => [name.replace(/^.*\//, ''), value])),
  };
  const directives = Object.entries(settings).map(([name, value]) =>
    name === 'proxy-body-size' ? `client_max_body_size ${value};` : `${name.replaceAll('-', '_')} ${value};`,
  );
  return nginxAsItComes(
    place,
    [
      ...directives,
      `proxy_buffers 4 ${settings['proxy-buffer-size']};`,
      'client_header_buffer_size 1k;',
      `large_client_header_buffers ${headerBuffers};`,
    ].join('\n'),
  );
}

describeProxy('the defaults of ingress-nginx', {
  proxy: nginx((place) => ingressNginx(place, {}, '4 8k')),
});

describeProxy('the annotations of deploy/kubernetes/ingress.yaml', {
  proxy: nginx((place) => {
    const text = readFileSync('deploy/kubernetes/ingress.yaml', 'utf8');
    const [, buffers = ''] = /large-client-header-buffers: "([^"]+)"/.exec(text) ?? [];
    return ingressNginx(place, (load(text) as Ingress).metadata.annotations, buffers);
  }),
  carriesAll: true,
});

/**
 * Before 2.8, Caddy logs "aborting with incomplete response" and ends the response in order (caddyserver/caddy#5952).
 */
const hidesCuts = /^v?2\.[0-7]\./.test(execFileSync('caddy', ['version'], { encoding: 'utf8' }));

describeProxy('Caddy as it comes', {
  proxy: caddy((place) => caddySite(place, `\treverse_proxy ${LOOPBACK}:${place.service}`)),
  hidesCuts,
});

describeProxy('Caddy with encode', {
  proxy: caddy((place) => caddySite(place, `\tencode gzip zstd\n\treverse_proxy ${LOOPBACK}:${place.service}`)),
  hidesCuts,
});

describeProxy('the file of deploy/caddy, with encode', {
  proxy: caddy((place) => shippedCaddy(place).replace('\treverse_proxy', '\tencode gzip\n\treverse_proxy')),
  carriesAll: true,
  hidesCuts,
});

describeProxy('the file of deploy/caddy, under a path', {
  proxy: caddy((place) => {
    const [, opening = ''] = /```caddyfile\n(handle_path .*\{)\n/.exec(GUIDE) ?? [];
    return shippedCaddy(place).replace(/\treverse_proxy[\s\S]*?\n\t\}\n/, (block) => `\t${opening}\n${block}\t}\n`);
  }),
  carriesAll: true,
  prefix: PREFIX,
  hidesCuts,
});
