import { escapeControls } from '../shared/escape-controls.js';
import { redactSecrets } from '../shared/redact.js';

/** What of a setting is secret: all of it, or the credentials in its URL. */
export type Secrecy = 'all' | 'url';

const HIDDEN = '***';
const MAX_CHARACTERS = 100;

/** One or more hosts with ports, then a path. Anything else in place of them could be a misplaced password. */
const PLAIN_LOCATION = /^[\w.-]+(:\d+)?(,[\w.-]+(:\d+)?)*(\/[\w.-]*)?$|^\[[\da-f:.]+\](:\d+)?(\/[\w.-]*)?$/i;
const SECRET_PARAMETER = /pass|secret|token|key|credential|authmechanismproperties/i;

/**
 * Returns a value for a person, or for a file that others may read: without secrets, without characters that control a
 * terminal, and of at most 100 characters.
 */
export function shownValue(value: unknown, secrecy?: Secrecy): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const masked = maskedText(text, secrecy);
  const shown = escapeControls(masked.slice(0, MAX_CHARACTERS));
  return masked.length > MAX_CHARACTERS ? `${shown}…` : shown;
}

/** Returns the whole value without secrets. */
export function maskedText(text: string, secrecy?: Secrecy): string {
  if (text === '') return '';
  if (secrecy === 'all') return HIDDEN;
  if (secrecy === 'url') return maskedUrl(text);
  // A URL may be in the wrong setting.
  return redactSecrets(text.replaceAll(/(:\/\/)\S*@/g, `$1${HIDDEN}@`));
}

function maskedUrl(text: string): string {
  const [, scheme = '', rest] = /^([a-z][a-z\d+.-]*:\/\/)(.*)$/is.exec(text) ?? [];
  if (rest === undefined) return HIDDEN;
  // The password may hold any of these characters unescaped, so that only the last @ surely ends it.
  const at = rest.lastIndexOf('@');
  const user = at >= 0 ? `${HIDDEN}@` : '';
  const [location = '', query] = rest.slice(at + 1).split(/\?(.*)/s, 2);
  const parameters = query === undefined ? '' : `?${query.split('&').map(maskedParameter).join('&')}`;
  return redactSecrets(scheme + user + (PLAIN_LOCATION.test(location) ? location : HIDDEN) + parameters);
}

function maskedParameter(parameter: string): string {
  const [name = ''] = parameter.split('=', 1);
  return SECRET_PARAMETER.test(name) || name === parameter ? `${name}=${HIDDEN}` : parameter;
}
