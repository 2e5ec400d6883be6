/** Puts a text into the clipboard; where that may not be, marks it where it stands, for the person to copy. */
export async function copy(text: string, shown: HTMLElement): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return 'Copied.';
  } catch {
    getSelection()?.selectAllChildren(shown);
    return 'The browser did not let it be copied; the text is marked now.';
  }
}
