import Joi from 'joi';
import type { Versioned } from '../../../../domain/record.js';
import { NAME } from '../../../../domain/text.js';
import { EMAIL, USER_FIELDS, type User } from '../../../../domain/user.js';
import { text } from '../bodies/schema.js';
import type { ResourceDescription } from '../resource-description.js';

export const USERS: ResourceDescription<User> = {
  path: 'users',
  version: 1,
  readScope: 'users:read',
  writeScope: 'users:write',
  words: {
    name: 'User',
    one: 'a user',
    many: 'users',
    about:
      'Who places orders. An e-mail address is kept as it was sent. No two users can have the same one, ignoring case.',
    example: { name: 'Ann Arbor', email: 'Ann@example.com' },
  },
  fields: USER_FIELDS,
  schema: Joi.object({
    name: text(NAME).required(),
    email: text(EMAIL).required(),
  }),
  present: ({ id, fields: { name, email } }: Versioned<User>) => ({ id, name, email }),
};
