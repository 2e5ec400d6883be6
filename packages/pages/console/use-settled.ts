import { useEffect, useState } from 'preact/hooks';

/** The pause after a key, in milliseconds. */
const PAUSE_MS = 250;

/** What a person typed, after a pause: a word is one request. */
export function useSettled(typed: string): string {
  const [settled, setSettled] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return settled;
}
