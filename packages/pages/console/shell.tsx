import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { BASE } from './api.js';
import { Button } from './components/button.js';
import { Dialog } from './components/dialog.js';
import { Radios } from './components/field.js';
import { Menu } from './components/menu.js';
import { Notice } from './components/notice.js';
import { useConsole } from './context.js';
import { Deletions } from './deletions.js';
import { ImportPage } from './pages/import-page.js';
import { KeyPage } from './pages/key-page.js';
import { ListPage } from './pages/list-page.js';
import { NewRecordPage, RecordPage } from './pages/record-page.js';
import { TreePage } from './pages/tree-page.js';
import { WebhookPage } from './pages/webhook-page.js';
import { chooseTheme, chosenTheme, THEMES, type Theme } from './preferences.js';
import { hashOf, hashOfList, type Route } from './router.js';
import { TEXTS } from './texts.js';
import type { Notification, Observation, Resource } from './types.js';
import { UndoNotice } from './undo.js';

const { status: texts } = TEXTS;

export interface Numbered extends Notification {
  readonly id: number;
}

interface ShellProps {
  readonly route: Route;
  readonly seen: Observation | undefined;
  readonly notifications: readonly Numbered[];
  dismiss(id: number): void;
  signOut(): void;
}

/** The frame of every page: the navigation, what the service told last, the messages, and the waiting deletions. */
export function Shell({ route, seen, notifications, dismiss, signOut }: ShellProps): JSX.Element {
  const { api, resources, deletions } = useConsole();
  const [isAboutOpen, setAboutOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const readable = resources.filter(api.mayRead);
  const shown = route.page === 'home' ? readable[0]?.name : route.resource;
  useTitleAndFocus(main, route);
  return (
    <>
      <Button class="skip" onClick={() => main.current?.focus()}>
        {texts.skip}
      </Button>
      {shown !== undefined && /^(home|list)$/.test(route.page) && (
        <Button class="skip" onClick={() => focusOn(main.current?.querySelector('tbody') ?? main.current)}>
          {texts.skipToRecords}
        </Button>
      )}
      <header>
        <a class="brand" href="#/">
          {TEXTS.session.title}
        </a>
        <nav aria-label={texts.navigation}>
          {readable.map(({ name, title }) => (
            <a key={name} href={hashOfList(name)} aria-current={name === shown ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <Menu label={texts.settings}>
          <ThemeChoice />
          <Button kind="link" onClick={() => setAboutOpen(true)}>
            {texts.about}
          </Button>
          <a href={`${BASE}docs`}>{texts.docs}</a>
          <Button onClick={signOut}>{TEXTS.session.signOut}</Button>
        </Menu>
      </header>
      {isAboutOpen && <About seen={seen} onClose={() => setAboutOpen(false)} />}
      <UndoNotice />
      <main id="main" ref={main} tabIndex={-1}>
        <Page route={route} readable={readable} />
      </main>
      <section class="messages" aria-label={texts.messages}>
        <Deletions queue={deletions} />
        {notifications.map((one) => (
          <Message key={one.id} notification={one} dismiss={() => dismiss(one.id)} />
        ))}
      </section>
    </>
  );
}

/** Moves the focus to a part of the page, from which Tab goes on. */
function focusOn(part: HTMLElement | null | undefined): void {
  part?.setAttribute('tabindex', '-1');
  part?.focus();
}

/** The tab has the heading of the page as its title. After a change of the page, the heading gets the focus. */
function useTitleAndFocus(main: { current: HTMLElement | null }, route: Route): void {
  const isFirst = useRef(true);
  const place = hashOf('query' in route ? { ...route, query: new URLSearchParams() } : route);
  useEffect(() => {
    const entitle = () => {
      document.title = [main.current?.querySelector('h1')?.textContent, TEXTS.session.title]
        .filter(Boolean)
        .join(' · ');
    };
    const observer = new MutationObserver(entitle);
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
    entitle();
    return () => {
      observer.disconnect();
      document.title = TEXTS.session.title;
    };
  }, []);
  useEffect(() => {
    const heading = main.current?.querySelector('h1');
    if (!isFirst.current) {
      focusOn(heading ?? main.current);
      scrollTo(0, 0);
    }
    isFirst.current = false;
    const link = document.querySelector<HTMLElement>('header [aria-current]');
    link?.parentElement?.scrollTo(link.offsetLeft - 100, 0);
  }, [place]);
}

interface AboutProps {
  readonly seen: Observation | undefined;
  onClose(): void;
}

/** What the key allows, and what the service said last of its limits. */
function About({ seen, onClose }: AboutProps): JSX.Element {
  const { api, document } = useConsole();
  const { rateLimit, milliseconds = 0 } = seen ?? {};
  const { remaining = 0, limit, resetSeconds = 0 } = rateLimit ?? {};
  const rows: readonly (readonly [string, string])[] = [
    [texts.service, new URL(BASE).host],
    [texts.version, document.info.version],
    [texts.latency, texts.milliseconds(milliseconds)],
    ...(rateLimit ? [[texts.rateLimit, texts.left(remaining, limit, resetSeconds)] as const] : []),
  ];
  return (
    <Dialog title={texts.about} onClose={onClose}>
      <dl class="details">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <h3>{texts.allowed}</h3>
      <ul>
        {api.permissions.scopes.map((scope) => (
          <li key={scope}>{TEXTS.scope(scope)}</li>
        ))}
      </ul>
      <p class="actions">
        <Button kind="primary" onClick={onClose}>
          {TEXTS.errors.close}
        </Button>
      </p>
    </Dialog>
  );
}

function ThemeChoice(): JSX.Element {
  const [theme, setTheme] = useState(chosenTheme);
  const choose = (next: Theme) => {
    setTheme(next);
    chooseTheme(next);
  };
  return (
    <Radios
      legend={texts.theme}
      chosen={theme}
      options={THEMES.map((one) => [one, texts.themes[one]] as const)}
      onChoose={choose}
    />
  );
}

interface MessageProps {
  readonly notification: Notification;
  dismiss(): void;
}

function Message({ notification: { kind = 'info', text, action }, dismiss }: MessageProps): JSX.Element {
  const act = () => {
    action?.run();
    dismiss();
  };
  return (
    <Notice kind={kind}>
      <p>{text}</p>
      {action && <Button onClick={act}>{action.label}</Button>}
      <Button kind="link" aria-label={texts.dismiss} onClick={dismiss}>
        ×
      </Button>
    </Notice>
  );
}

interface PageProps {
  readonly route: Route;
  readonly readable: readonly Resource[];
}

/** The pages of records with which more can be done than to edit them. */
const PAGES: ReadonlyMap<string, typeof RecordPage> = new Map([
  ['api-keys', KeyPage],
  ['webhooks', WebhookPage],
]);

function Page({ route, readable }: PageProps): JSX.Element {
  const { resources } = useConsole();
  const [first] = readable;
  const resource = route.page === 'home' ? first : resources.find(({ name }) => name === route.resource);
  if (!first) return <Nothing title={TEXTS.session.nothingTitle} text={TEXTS.session.nothing} />;
  if (!resource) return <Nothing {...TEXTS.errors.noPage} />;
  const { name } = resource;
  const One = PAGES.get(name) ?? RecordPage;
  switch (route.page) {
    case 'home':
      return <ListPage key={name} resource={resource} query={new URLSearchParams()} />;
    case 'list':
      return <ListPage key={name} resource={resource} query={route.query} />;
    case 'record':
      return <One key={`${name}/${route.id}`} resource={resource} id={route.id} />;
    case 'new':
      return <NewRecordPage key={`${name}/${route.from}`} resource={resource} from={route.from} />;
    case 'tree':
      return resource.facets.includes(route.field) ? (
        <TreePage key={name} resource={resource} field={route.field} />
      ) : (
        <Nothing {...TEXTS.errors.noPage} />
      );
    case 'import':
      return <ImportPage key={name} resource={resource} />;
  }
}

function Nothing({ title, text }: { readonly title: string; readonly text: string }): JSX.Element {
  return (
    <div class="empty">
      <h1>{title}</h1>
      <p>{text}</p>
    </div>
  );
}
