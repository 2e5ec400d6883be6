import type { Attempt } from './attempt.js';

/** More is not shown, and not read either: an export may be of any length. */
export const MAX_SHOWN_BYTES = 256 * 1024;

export interface ReceivedResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  readonly bytes: number;
  readonly milliseconds: number;
  /** Why the body ends before its end, if it does. */
  readonly isCut?: 'long' | 'broken';
}

/**
 * Sends a request, past every cache, so that what comes is the service's answer to this very request.
 * @param key empty: none
 * @throws what the browser says when no answer comes
 */
export async function send(attempt: Attempt, key: string, signal: AbortSignal): Promise<ReceivedResponse> {
  const headers = new Headers(attempt.headers.map(([name, value]) => [name, value]));
  if (key !== '' && attempt.takesKey) headers.set('Authorization', `Bearer ${key}`);
  const begun = performance.now();
  const response = await fetch(attempt.url, {
    method: attempt.method,
    headers,
    ...(attempt.body !== undefined && { body: attempt.body }),
    cache: 'no-store',
    signal,
  });
  const body = await shownBody(response, signal);
  return {
    status: response.status,
    statusText: response.statusText,
    headers: [...response.headers],
    milliseconds: Math.round(performance.now() - begun),
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
