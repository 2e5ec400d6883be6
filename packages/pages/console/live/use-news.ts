import { useEffect, useState } from 'preact/hooks';
import { useConsole } from '../context.js';
import type { News, Resource } from '../types.js';

/** What the document fires when a dialog opens or closes. */
export const DIALOG_CHANGE = 'dialogchange';

/**
 * Tells the page what others change, while the page is visible and no dialog is before it, in which the person may
 * change records too.
 * @param shown what the page shows; undefined: nothing that could change
 * @param report called with the news; after the signal is aborted, what it found is nobody's any more
 */
export function useNews(
  resource: Resource,
  shown: unknown,
  report: (news: News, signal: AbortSignal) => Promise<void>,
): void {
  const { follower } = useConsole();
  const isOn = useView() && shown !== undefined;
  useEffect(() => {
    if (!isOn) return undefined;
    const aborter = new AbortController();
    void follower.follow(resource, (news) => report(news, aborter.signal), aborter.signal);
    return () => aborter.abort();
  }, [follower, resource, shown, isOn]);
}

/** Whether the person has the page in view. */
function useView(): boolean {
  const isInView = () => !document.hidden && !document.querySelector('dialog[open]');
  const [isOn, setOn] = useState(isInView);
  useEffect(() => {
    const look = () => setOn(isInView());
    const listening = new AbortController();
    for (const event of ['visibilitychange', DIALOG_CHANGE]) document.addEventListener(event, look, listening);
    return () => listening.abort();
  }, []);
  return isOn;
}
