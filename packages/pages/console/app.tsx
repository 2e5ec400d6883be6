import type { ComponentChildren, JSX } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { OpenApi } from '../docs/openapi.js';
import { References } from '../docs/references.js';
import { endKey, shareKey } from '../docs/shared-key.js';
import { apiOf, catalogueFor, dataOf, followerOf, PATIENCE, prober } from './api.js';
import { Dialog } from './components/dialog.js';
import { ErrorNotice, Notice } from './components/notice.js';
import { type Console, ConsoleContext } from './context.js';
import { createDeletionQueue } from './deletions.js';
import { SignInPage } from './pages/sign-in-page.js';
import { prefer, preferred } from './preferences.js';
import { resourcesOf } from './resources.js';
import { hashOf, routeOf } from './router.js';
import { permissionsOf, type Session, scopesIn, storedSession, storeSession } from './session.js';
import { type Numbered, Shell } from './shell.js';
import { TEXTS } from './texts.js';
import type { Notification, Observation, Resource } from './types.js';
import { useUndo } from './undo.js';
import { useLoad } from './use-load.js';

/** The preference not to load pictures of other sites. */
const PICTURES = 'pictures';

interface Description {
  readonly document: OpenApi;
  readonly references: References;
  readonly resources: readonly Resource[];
}

/** The whole console: it signs in, reads the document, and shows the shell with the page that the URL names. */
export function App(): JSX.Element {
  const [session, setSession] = useState(storedSession);
  const [signedOut, setSignedOut] = useState(false);
  const current = useRef(session);
  const change = (next: Session | undefined) => {
    storeSession(next);
    current.current = next;
    setSession(next);
    setSignedOut(next === undefined);
  };
  const signIn = async (key: string) => {
    const { resources, document } = await description();
    const probe = prober(catalogueFor(key, () => {}));
    change({ key, permissions: await permissionsOf(probe, resources, scopesIn(document)) });
  };
  const signOut = () => {
    if (session) endKey(session.key);
    change(undefined);
  };
  useEffect(
    () =>
      shareKey({
        key: () => current.current?.key,
        // The form stays if the key is not accepted.
        take: (key) => void signIn(key).catch(() => {}),
        drop: () => change(undefined),
      }),
    [],
  );
  if (session) return <Described {...{ session, signIn, signOut }} />;
  return (
    <Alone>
      {signedOut && <Notice>{TEXTS.session.signedOut}</Notice>}
      <h1>{TEXTS.session.title}</h1>
      <p>{TEXTS.session.intro}</p>
      <SignInPage signIn={signIn} />
      <p class="hint">
        {TEXTS.session.noKey} <code>catalogue keys create</code>
      </p>
    </Alone>
  );
}

function Alone({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return (
    <main class="alone" id="main">
      {children}
    </main>
  );
}

let reading: Promise<Description> | undefined;

/** The description of the service, which is read once. */
function description(): Promise<Description> {
  reading ??= readDocument();
  reading.catch(() => {
    reading = undefined;
  });
  return reading;
}

async function readDocument(): Promise<Description> {
  const document = (await dataOf(catalogueFor(undefined, () => {}).GET('/openapi.json'))) as unknown as OpenApi;
  const references = new References(document);
  return { document, references, resources: resourcesOf(document, references) };
}

interface SessionProps {
  readonly session: Session;
  signIn(key: string): Promise<void>;
  signOut(): void;
}

function Described(props: SessionProps): JSX.Element {
  const { value, error, reload } = useLoad('', description);
  if (error !== undefined) return <Alone children={<ErrorNotice error={error} onRetry={reload} />} />;
  if (!value) return <Alone children={<p class="note">{TEXTS.status.starting}</p>} />;
  return <SignedIn {...value} {...props} />;
}

function SignedIn({ session, signIn, signOut, ...described }: SessionProps & Description): JSX.Element {
  const { key, permissions } = session;
  const [route, setRoute] = useState(() => routeOf(location.hash));
  const [seen, setSeen] = useState<Observation>();
  const [rejectedKey, setRejectedKey] = useState<string>();
  const newestKey = useRef(key);
  newestKey.current = key;
  const [notifications, notify, dismiss] = useNotifications();
  const [catalogue, following] = useMemo(() => {
    const token = () => newestKey.current;
    const observe = (isWait: boolean) => (next: Observation) => {
      // How long the service waits for a change says nothing about it.
      setSeen((last) => (isWait && last ? { ...next, milliseconds: last.milliseconds } : next));
      if (next.status === 401) setRejectedKey(newestKey.current);
    };
    return [catalogueFor(token, observe(false)), catalogueFor(token, observe(true), PATIENCE)] as const;
  }, []);
  // Another key may read other changes.
  const follower = useMemo(() => followerOf(catalogue, following), [permissions]);
  const api = useMemo(() => apiOf(catalogue, key, permissions), [permissions]);
  // The queue outlives a new key: what waits in it is not lost.
  const deletions = useMemo(() => createDeletionQueue(api), []);
  useEffect(() => {
    const follow = () => setRoute(routeOf(location.hash));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const [undo, rememberUndo] = useUndo(described.resources);
  const [hasPictures, setPictures] = useState(() => preferred(PICTURES) === undefined);
  const value = useMemo<Console>(() => {
    const navigate: Console['navigate'] = (next, how = 'push') => {
      history[how === 'push' ? 'pushState' : 'replaceState'](null, '', hashOf(next));
      setRoute(next);
    };
    const showPictures = (areShown: boolean) => {
      prefer(PICTURES, areShown ? undefined : 'off');
      setPictures(areShown);
    };
    return { ...described, api, hasPictures, showPictures, notify, deletions, undo, rememberUndo, follower, navigate };
  }, [api, hasPictures, undo]);
  return (
    <ConsoleContext.Provider value={value}>
      <Shell {...{ route, seen, notifications, dismiss, signOut }} />
      {rejectedKey === key && (
        <Dialog title={TEXTS.errors.unauthenticated.title} onClose={() => setRejectedKey(undefined)}>
          <p>{TEXTS.session.lockedOut}</p>
          <SignInPage signIn={(next) => signIn(next).then(() => setRejectedKey(undefined))} />
        </Dialog>
      )}
    </ConsoleContext.Provider>
  );
}

function useNotifications(): [readonly Numbered[], Console['notify'], (id: number) => void] {
  const [shown, setShown] = useState<readonly Numbered[]>([]);
  const ids = useRef(0);
  const notify = useCallback((notification: Notification) => {
    ids.current += 1;
    const id = ids.current;
    setShown((others) => [...others, { ...notification, id }]);
  }, []);
  const dismiss = useCallback((id: number) => setShown((all) => all.filter((one) => one.id !== id)), []);
  return [shown, notify, dismiss];
}
