/**
 * Copies a text to the clipboard. If the browser does not allow this, selects the text, so that the person can copy it.
 * @returns whether it was copied
 */
export async function copy(text: string, shown: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection()?.selectAllChildren(shown);
    return false;
  }
}
