import type { Scope } from '../../../../domain/access.js';

/** What each scope lets its holder do. One that is forgotten does not compile. */
export const SCOPE_MEANINGS: Readonly<Record<Scope, string>> = {
  'products:read': 'List and read products.',
  'products:write': 'Create, change and delete products.',
  'users:read': 'List and read users.',
  'users:write': 'Create, change and delete users.',
  'orders:read': 'List and read orders.',
  'orders:write': 'Create, change and delete orders.',
  'keys:admin': 'Create, list and revoke API keys.',
};
