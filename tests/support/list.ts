/** The entries of a list in the source, which two spaces or a line end separate. Backslashes stay as they are. */
export function list({ raw: [text = ''] }: TemplateStringsArray): string[] {
  return text.trim().split(/ {2,}|\s*\n\s*/);
}
