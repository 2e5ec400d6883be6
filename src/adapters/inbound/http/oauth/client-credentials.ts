import { decodeFormText, type Form, formFault, invalidForm } from './form.js';

export interface ClientCredentials {
  readonly id: string;
  readonly secret: string;
}

const BASIC = /^basic(?: +|$)/i;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** What no client has. It is refused, and counted, as any wrong secret. */
const UNREADABLE: ClientCredentials = { id: '', secret: '' };

/**
 * By `client_secret_basic` or `client_secret_post` (RFC 6749 section 2.3.1).
 * @returns undefined where no secret was sent
 * @throws CatalogueError `validation_failed` where the client would be told in two ways
 */
export function clientCredentials(authorization: string, form: Form): ClientCredentials | undefined {
  const [id, secret] = [form.get('client_id'), form.get('client_secret')];
  if (!BASIC.test(authorization)) return secret === undefined ? undefined : { id: id ?? '', secret };
  const basic = readBasic(authorization.replace(BASIC, ''));
  const isTwofold = secret !== undefined || (id !== undefined && id !== basic.id);
  if (isTwofold) {
    const name = secret === undefined ? 'client_id' : 'client_secret';
    const message = 'The client is named in the header Authorization and, in another way, in the body.';
    throw invalidForm([formFault('duplicate_value', name, message)]);
  }
  return basic;
}

/** Both parts are form-encoded before they are joined, unlike in RFC 7617. */
function readBasic(encoded: string): ClientCredentials {
  if (!BASE64.test(encoded)) return UNREADABLE;
  const [rawId = '', ...rest] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  const [id, secret] = [decodeFormText(rawId), decodeFormText(rest.join(':'))];
  return id === undefined || secret === undefined ? UNREADABLE : { id, secret };
}
