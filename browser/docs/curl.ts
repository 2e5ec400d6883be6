import type { Attempt } from './attempt.js';

/** The same request for a shell. The key stays out of it: a clipboard is read by others, and a shell keeps what was typed. */
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

/** For a POSIX shell, in which nothing within single quotation marks has a meaning. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
