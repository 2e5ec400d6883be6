/** Characters that could move the cursor of a terminal, hide text or reorder it. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Returns the text for a terminal: line breaks and other characters that control it become `\uXXXX`, as in JSON. */
export function escapeControls(text: string): string {
  return text.replace(UNSAFE, (character) => {
    return [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join('');
  });
}
