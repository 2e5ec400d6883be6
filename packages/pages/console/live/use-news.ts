import { useEffect, useState } from 'preact/hooks';
import { useConsole } from '../context.js';
import type { News, Resource } from '../types.js';

/**
 * Tells the page what others change, while the page is visible.
 * @param shown what the page shows; undefined: nothing that could change
 * @param report called with the news; after the signal is aborted, what it found is nobody's any more
 */
export function useNews(
  resource: Resource,
  shown: unknown,
  report: (news: News, signal: AbortSignal) => Promise<void>,
): void {
  const { follower } = useConsole();
  const isVisible = useVisibility();
  const isOn = shown !== undefined && isVisible;
  useEffect(() => {
    if (!isOn) return undefined;
    const aborter = new AbortController();
    void follower.follow(resource, (news) => report(news, aborter.signal), aborter.signal);
    return () => aborter.abort();
  }, [follower, resource, shown, isOn]);
}

function useVisibility(): boolean {
  const [isVisible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const look = () => setVisible(!document.hidden);
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  return isVisible;
}
