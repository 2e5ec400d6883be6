import { healthRoutes } from '#src/adapters/inbound/http/pages/pages.js';
import { compose } from '#src/composition/application.js';
import { loadSettings } from '#src/config/settings.js';
import type { Scope } from '#src/domain/access.js';
import { RECORD_PLURALS } from './tables.js';

/** The paths that the contract makes public. */
const PUBLIC = [/^\/$/, /^\/health\//, /^\/openapi\.json$/, /^\/(?:docs|console)$/, /^\/oauth\//, /^\/\.well-known\//];
/** The assets of the pages at /docs and /console. */
const ASSETS = /^\/(?:docs|console)\/(?:[a-z]+\/)?[a-z-]+\.(?:css|js|json)$/;

/** The scopes that the contract names, by the first segment of the path. */
export const SCOPES_OF_PATHS: Readonly<Record<string, { read: Scope; write: Scope }>> = {
  ...Object.fromEntries(
    RECORD_PLURALS.map((plural) => [plural, { read: `${plural}:read`, write: `${plural}:write` } as const]),
  ),
  'api-keys': { read: 'keys:admin', write: 'keys:admin' },
  webhooks: { read: 'webhooks:admin', write: 'webhooks:admin' },
};

/** The scopes that the contract requires for a method of a path; none if it names no scope for the path. */
export function requiredScopes(method: string, path: string): readonly Scope[] {
  const scopes = SCOPES_OF_PATHS[/^(?:\/v\d+)?\/([^/]*)/.exec(path)?.[1] ?? ''];
  if (!scopes) return [];
  if (method === 'GET' || method === 'HEAD') return [scopes.read];
  // The response shows the record.
  return method === 'PATCH' && scopes.read !== scopes.write ? [scopes.write, scopes.read] : [scopes.write];
}

export function isPublicPath(path: string): boolean {
  return [...PUBLIC, ASSETS].some((pattern) => pattern.test(path));
}

export interface ServedRoute {
  readonly route: string;
  readonly methods: readonly string[];
  /** The unique field whose value is the last segment of the paths, if it is one. */
  readonly key: string | undefined;
  /** The paths with the version, then those without it. They name a record that does not exist. */
  readonly paths: readonly string[];
}

/** @returns each route of the service, with its paths in every form */
export async function servedRoutes(settings: Record<string, string>): Promise<ServedRoute[]> {
  const application = await compose(loadSettings({ STORE: 'memory', LOG_LEVEL: 'silent', ...settings }));
  const { routes, store } = application;
  return [...healthRoutes(store, () => undefined), ...routes].map(({ template, path, variables, key, operations }) => {
    const whole = template
      .replace('{id}', `${Number.MAX_SAFE_INTEGER}`)
      .replace(`{${key?.field}}`, encodeURIComponent(key?.rule.example ?? ''));
    const full = Object.entries(variables ?? {})
      .reduce(
        (all, [name, values]) => all.flatMap((one) => values.map((value) => one.replace(`{${name}}`, value))),
        [whole],
      )
      .filter((one) => path.test(one));
    const short = full.map(withoutVersion).filter((one) => !full.includes(one));
    const paths = [...full, ...short].filter((one) => path.test(one));
    return { route: template, methods: Object.keys(operations), key: key?.field, paths };
  });
}

export function withoutVersion(path: string): string {
  return path.replace(/^\/v\d+(?=\/)/, '');
}
