import stringWidth from 'string-width';
import { escapeControls } from '../../../shared/shown-text.js';

const GAP = '  ';

/**
 * Returns rows as padded columns, with a line break at the end. A cell takes one line, whatever its text: the names of
 * keys come from clients.
 */
export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [heading, ...rows].map((row) => row.map(escapeControls));
  const widths = heading.map((_, column) => Math.max(...all.map((row) => stringWidth(row[column] ?? ''))));
  return all
    .map(
      (row) =>
        `${row
          .map((cell, column) => padded(cell, widths[column] ?? 0))
          .join(GAP)
          .trimEnd()}\n`,
    )
    .join('');
}

function padded(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - stringWidth(cell)));
}
