import type { Attempt } from './attempt.js';

/**
 * The same request as a curl command. It does not contain the key: other programs read the clipboard, and a shell keeps
 * a history.
 */
export function curlOf({ method, url, headers, body, takesKey }: Attempt): string {
  const parts = [
    `curl --include ${methodOption(method, body)}${quoted(url)}`,
    ...(takesKey ? ['--header "Authorization: Bearer $API_KEY"'] : []),
    ...headers.map(([name, value]) => `--header ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quoted(body)}`]),
  ];
  return parts.join(' \\\n  ');
}

function methodOption(method: string, body: string | undefined): string {
  if (method === 'HEAD') return '--head ';
  return method === (body === undefined ? 'GET' : 'POST') ? '' : `--request ${method} `;
}

/** Quotes a text for a POSIX shell, in which no character within single quotation marks has a special meaning. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
