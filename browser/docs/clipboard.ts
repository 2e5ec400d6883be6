/**
 * Copies a text to the clipboard. If the browser does not allow this, selects the text, so that the person can copy it.
 * @returns a message for the person
 */
export async function copy(text: string, shown: HTMLElement): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return 'Copied.';
  } catch {
    getSelection()?.selectAllChildren(shown);
    return 'The browser does not allow copying. The text is selected: copy it yourself.';
  }
}
