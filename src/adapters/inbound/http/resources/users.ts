import { USER, type User } from '../../../../domain/user.js';
import type { ResourceDefinition } from '../core/resource-definition.js';
import { fromFieldTable } from './from-field-table.js';

export const USERS: ResourceDefinition<User> = {
  path: 'users',
  version: 1,
  readScope: 'users:read',
  writeScope: 'users:write',
  docs: {
    name: 'User',
    singular: 'a user',
    plural: 'users',
    description:
      'Who places orders. An e-mail address is kept as it was sent. No two users can have the same one, ignoring case.',
  },
  ...fromFieldTable(USER),
};
