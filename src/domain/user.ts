import type { FieldsOf, FieldTable } from './fields.js';
import { NAME } from './text.js';

/** The e-mail addresses that HTML's input accepts: https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address */
const EMAIL_ADDRESS =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

export const USER = {
  name: {
    description: 'What the user is called',
    kind: 'text',
    ...NAME,
    example: 'Ann Arbor',
    required: true,
    indexed: true,
    searched: true,
  },
  email: {
    description: 'The e-mail address, kept as sent; no two users share one, not even in upper and lower case',
    kind: 'text',
    min: 1,
    max: 254,
    allowed: EMAIL_ADDRESS,
    characters: 'characters, an ASCII address such as ann@example.com',
    example: 'Ann@example.com',
    required: true,
    indexed: true,
    unique: true,
    ignoresCase: true,
    spaceless: true,
    searched: true,
  },
} as const satisfies FieldTable;

export interface User extends FieldsOf<typeof USER> {}
