import type { SigningKeys } from '../../../../application/auth/signing-keys.js';
import { SCOPES } from '../../../../domain/access.js';
import type { PublicUrl } from '../../../../shared/public-url.js';
import { JSON_TYPE } from '../core/media-types.js';
import type { Route } from '../core/route.js';
import { GRANT_TYPE } from './token-route.js';

export interface MetadataDependencies {
  readonly publicUrl: PublicUrl;
  readonly signingKeys: Pick<SigningKeys, 'published'>;
  /** The other issuer whose tokens are accepted. Empty: none. */
  readonly otherIssuer: string;
}

/** Half of the time for which a new key is published before it is used. */
const CACHE_CONTROL = 'public, max-age=300';
const RESOURCE_METADATA = '/.well-known/oauth-protected-resource';

export function metadataUrl({ url }: Pick<PublicUrl, 'url'>): string {
  return url + RESOURCE_METADATA;
}

/** The metadata documents and the public keys, for discovery. All URLs in them are public. */
export function metadataRoutes(deps: MetadataDependencies): Route[] {
  const { publicUrl, signingKeys } = deps;
  return [
    wellKnown(publicUrl, '/.well-known/oauth-authorization-server', () => issuerMetadata(publicUrl)),
    wellKnown(publicUrl, RESOURCE_METADATA, () => resourceMetadata(deps)),
    document('/oauth/jwks', /^\/oauth\/jwks$/, async () => {
      const keys = await signingKeys.published();
      return { keys: keys.map(({ publicJwk }) => publicJwk) };
    }),
  ];
}

/** RFC 8414 section 2. */
function issuerMetadata({ url }: PublicUrl): object {
  return {
    issuer: url,
    token_endpoint: `${url}/oauth/token`,
    jwks_uri: `${url}/oauth/jwks`,
    scopes_supported: SCOPES,
    response_types_supported: [],
    grant_types_supported: [GRANT_TYPE],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
  };
}

/** RFC 9728 section 2. */
function resourceMetadata({ publicUrl: { url }, otherIssuer }: MetadataDependencies): object {
  return {
    resource: url,
    authorization_servers: [url, ...(otherIssuer === '' ? [] : [otherIssuer])],
    scopes_supported: SCOPES,
    bearer_methods_supported: ['header'],
    resource_name: 'Product catalogue',
  };
}

/**
 * A route for a well-known document. If the public URL has a path, clients append it to the well-known path (RFC 8414
 * section 3.1, RFC 9728 section 3.1). Some clients put it before the well-known path, and the proxy removes it.
 */
function wellKnown(publicUrl: PublicUrl, template: string, build: () => object): Route {
  const path = new RegExp(`^${escapeRegExp(template)}(?:${escapeRegExp(publicUrl.addressOf(''))})?$`);
  return { ...document(template, path, build), isStatic: true };
}

/** @param build called for each request */
function document(template: string, path: RegExp, build: () => object | Promise<object>): Route {
  return {
    template,
    path,
    access: 'public',
    operations: {
      GET: {
        varyBy: ['Accept-Encoding'],
        handle: async (ctx) => {
          const body = JSON.stringify(await build());
          ctx.set({ 'Content-Type': JSON_TYPE, 'Cache-Control': CACHE_CONTROL });
          ctx.body = body;
        },
      },
    },
  };
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
