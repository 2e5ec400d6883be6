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
  fields: USER_FIELDS,
  schema: Joi.object({
    name: text(NAME).required(),
    email: text(EMAIL).required(),
  }),
  present: ({ id, fields: { name, email } }: Versioned<User>) => ({ id, name, email }),
};
