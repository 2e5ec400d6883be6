import { type ApiRequest, FORM_TYPE } from './request.js';

/** The rest of a response is neither shown nor read: an export may have any length. */
export const MAX_SHOWN_BYTES = 256 * 1024;

export interface ReceivedResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  readonly bytes: number;
  readonly milliseconds: number;
  /** Why the body is incomplete, if it is. */
  readonly isCut?: 'long' | 'broken';
}

/**
 * Sends a request past every cache, so that the response belongs to this very request.
 * @param key empty to send no key
 * @throws the browser's error if no response comes
 */
export async function send(request: ApiRequest, key: string, signal: AbortSignal): Promise<ReceivedResponse> {
  const headers = new Headers(request.headers.map(([name, value]) => [name, value]));
  if (key !== '' && request.takesKey) headers.set('Authorization', `Bearer ${key}`);
  const startedAt = performance.now();
  const response = await fetch(request.url, {
    method: request.method,
    headers,
    ...(request.body !== undefined && { body: request.body }),
    cache: 'no-store',
    // A form has the credentials of its client. With others, a browser asks for a password if those are wrong.
    credentials: headers.get('Content-Type') === FORM_TYPE ? 'omit' : 'same-origin',
    signal,
  });
  const body = await shownBody(response, signal);
  return {
    status: response.status,
    statusText: response.statusText,
    headers: [...response.headers],
    milliseconds: Math.round(performance.now() - startedAt),
    ...body,
  };
}

async function shownBody(
  response: Response,
  signal: AbortSignal,
): Promise<Pick<ReceivedResponse, 'body' | 'bytes' | 'isCut'>> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let [body, bytes] = ['', 0];
  try {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      body += decoder.decode(part.value, { stream: true });
      bytes += part.value.length;
      if (bytes <= MAX_SHOWN_BYTES) continue;
      await reader?.cancel();
      return { body: body.slice(0, MAX_SHOWN_BYTES), bytes, isCut: 'long' };
    }
  } catch (error) {
    if (signal.aborted) throw error;
    return { body, bytes, isCut: 'broken' };
  }
  return { body: body + decoder.decode(), bytes };
}
