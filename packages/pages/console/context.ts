import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { OpenApi } from '../docs/openapi.js';
import type { References } from '../docs/references.js';
import type { DeletionQueue } from './edit/deletion-queue.js';
import type { FeedFollower } from './live/follower.js';
import type { Route } from './router.js';
import type { Undo } from './transfer/run-history.js';
import type { Api, Notification, Resource } from './types.js';

/** What every page can use. */
export interface Console {
  readonly api: Api;
  readonly document: OpenApi;
  readonly references: References;
  readonly resources: readonly Resource[];
  /** Whether pictures are loaded, which the person chooses. */
  readonly hasPictures: boolean;
  showPictures(areShown: boolean): void;
  navigate(route: Route, how?: 'push' | 'replace'): void;
  notify(notification: Notification): void;
  readonly deletions: DeletionQueue;
  /** How to undo what the last file or bulk change of this tab did. */
  readonly undo: Undo | undefined;
  rememberUndo(undo: Undo | undefined): void;
  /** Tells the pages what others change. */
  readonly follower: FeedFollower;
}

export const ConsoleContext = createContext<Console | undefined>(undefined);

/** The service, the document and the functions of the shell, for every page of a signed-in person. */
export function useConsole(): Console {
  const found = useContext(ConsoleContext);
  if (!found) throw new Error('No console above this component');
  return found;
}
