import { isAmbiguousUrl } from '../composition/stores/registration.js';
import { escapeControls, redactSecrets } from '../shared/shown-text.js';

/** What of a setting is secret: all of it, or all of its URL but the hosts, the ports and the database. */
export type Secrecy = 'all' | 'url';

const HIDDEN = '***';
const MAX_CHARACTERS = 100;

/** One or more hosts with ports, then a path. Anything else in place of them could be a misplaced password. */
const PLAIN_LOCATION = /^[\w.-]+(:\d+)?(,[\w.-]+(:\d+)?)*(\/[\w.-]*)?$|^\[[\da-f:.]+\](:\d+)?(\/[\w.-]*)?$/i;

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

/** The hosts, the ports and the database: nothing else of a URL is shown. */
function maskedUrl(text: string): string {
  const [, scheme = '', user = '', location = ''] = /^([a-z][a-z\d+.-]*:\/\/)(?:(.*)@)?([^?]*)/is.exec(text) ?? [];
  if (isAmbiguousUrl(text) || !PLAIN_LOCATION.test(location)) return HIDDEN;
  return redactSecrets(`${scheme}${user && `${HIDDEN}@`}${location}`);
}
