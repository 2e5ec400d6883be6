/** What the tabs of a service say to each other. */
type Message =
  | { readonly kind: 'ask'; readonly from: number }
  | { readonly kind: 'answer'; readonly to: number; readonly key: string }
  | { readonly kind: 'end'; readonly key: string };

/** Another service behind the same proxy has another path. */
const CHANNEL = new BroadcastChannel(`catalogue ${new URL('.', location.origin + location.pathname).href}`);

interface KeyHolder {
  /** The key of the tab; undefined if it has none that other tabs may use. */
  key(): string | undefined;
  /** Another tab has a key. */
  take(key: string): void;
  /** The person signed out in another tab that had the same key. */
  drop(): void;
}

/**
 * Asks the open tabs of the service for their key if this tab has none, and answers those that open later. No storage
 * that outlives a tab has the key.
 */
export function shareKey({ key, take, drop }: KeyHolder): void {
  const from = Math.random();
  CHANNEL.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    const own = key();
    if (data.kind === 'ask' && own !== undefined) send({ kind: 'answer', to: data.from, key: own });
    if (data.kind === 'answer' && data.to === from && own === undefined) take(data.key);
    if (data.kind === 'end' && data.key === own) drop();
  });
  if (key() === undefined) send({ kind: 'ask', from });
}

/** Signs out the other tabs that have a key. */
export function endKey(key: string): void {
  send({ kind: 'end', key });
}

function send(message: Message): void {
  CHANNEL.postMessage(message);
}
