/** A browser that blocks the data of sites has no storage for the tab. */
function storage(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}

/** Prevents confusion with another page of the same origin. */
const PREFIX = 'catalogue.';
/** Without storage, the page remembers until it is reloaded. */
const UNTIL_RELOAD = new Map<string, string>();

/** Whether a reload of the page keeps what the tab remembers. */
export function survivesReload(): boolean {
  return storage() !== undefined;
}

/** A text that the tab remembers. It ends with the tab. */
export function remembered(name: string): string | undefined {
  return storage()?.getItem(`${PREFIX}${name}`) ?? UNTIL_RELOAD.get(name);
}

/** @param text `undefined` forgets it */
export function remember(name: string, text: string | undefined): void {
  const tab = storage();
  if (tab) {
    if (text === undefined) tab.removeItem(`${PREFIX}${name}`);
    else tab.setItem(`${PREFIX}${name}`, text);
  } else if (text === undefined) UNTIL_RELOAD.delete(name);
  else UNTIL_RELOAD.set(name, text);
}
