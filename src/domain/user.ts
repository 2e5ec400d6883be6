import type { Fault } from './errors.js';
import type { FieldSet } from './fields.js';
import { NAME, type TextRule, textFieldFaults } from './text.js';

export interface User {
  readonly name: string;
  /** Kept as it was sent; no two users share one, whatever its case. */
  readonly email: string;
}

export const USER_FIELDS = {
  name: { type: 'text', required: true },
  email: { type: 'text', required: true, unique: true, ignoresCase: true },
} satisfies FieldSet;

/** As HTML's e-mail input takes it: https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address */
const ADDRESS =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

export const EMAIL: TextRule = { min: 1, max: 254, allowed: ADDRESS };

/** What holds of a user whoever made it; an empty answer means that all does. */
export function userFaults(user: User): Fault[] {
  return [...textFieldFaults(['name'], user.name, NAME), ...textFieldFaults(['email'], user.email, EMAIL)];
}
