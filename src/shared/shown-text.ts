import { getSystemErrorMap } from 'node:util';

/** Characters that could move the cursor of a terminal, hide text or reorder it. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Returns the text for a terminal: line breaks and other characters that control it become `\uXXXX`, as in JSON. */
export function escapeControls(text: string): string {
  return text.replace(UNSAFE, (character) => {
    return [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join('');
  });
}

/** What an error of the operating system means, with its code: `permission denied (EACCES)`. */
export function systemReason(error: unknown): string {
  const { code, errno = 0, message } = error as NodeJS.ErrnoException;
  const [, meaning = message] = getSystemErrorMap().get(errno) ?? [];
  return code === undefined ? meaning : `${meaning} (${code})`;
}

/** An API key, also percent-encoded as in a URL. */
const API_KEY = /pcs(?:_|%5f)[0-9a-z]{8,}/gi;
/** The secret of a webhook. */
const WEBHOOK_SECRET = /whsec_[\w+/=]{8,}/gi;
/** A JWT, by the start of its header: `{"` in base64url. */
const JWT = /eyJ[\w.-]{8,}/g;
/** The user and the password of a URL (RFC 3986 section 3.2.1), also after a path was made of it. */
const USER_INFO = /(:\/{1,2})[^\s/?#@"\\]+@/g;

/** The same of a database or Redis, whose password may have characters that had to be percent-encoded. */
const SERVER_USER_INFO = /((?:mongodb(?:\+srv)?|postgres(?:ql)?|rediss?):\/{1,2})[^\s"]+@/gi;

/** Whether there is anything to replace. Few texts have it, and three replacements cost more than one search. */
const SECRET = new RegExp(
  `${API_KEY.source}|${WEBHOOK_SECRET.source}|${JWT.source}|${SERVER_USER_INFO.source}|${USER_INFO.source}`,
  'i',
);

/** Returns the text with everything that looks like an API key, the secret of a webhook, an access token or a URL's password replaced. */
export function redactSecrets(text: string): string {
  if (!SECRET.test(text)) return text;
  return text
    .replaceAll(API_KEY, 'pcs_[secret]')
    .replaceAll(WEBHOOK_SECRET, 'whsec_[secret]')
    .replaceAll(JWT, 'eyJ[secret]')
    .replaceAll(SERVER_USER_INFO, '$1***@')
    .replaceAll(USER_INFO, '$1***@');
}
