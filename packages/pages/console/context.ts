import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Console } from './types.js';

export const ConsoleContext = createContext<Console | undefined>(undefined);

/** The service, the document and the functions of the shell, for every page of a signed-in person. */
export function useConsole(): Console {
  const found = useContext(ConsoleContext);
  if (!found) throw new Error('No console above this component');
  return found;
}
