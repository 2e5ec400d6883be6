import { useEffect, useState } from 'preact/hooks';
import { PAUSE_MS } from './facets/prefix-box.js';

/** What a person typed, after a pause: a word is one request. */
export function useSettled(typed: string): string {
  const [settled, setSettled] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return settled;
}
