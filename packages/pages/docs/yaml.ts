import { unicodeEscape } from './code-samples.js';

/** A text that YAML reads as this very string without quotation marks. */
const PLAIN = /^[A-Za-z$/](?:[\w$/{}. ()'+=-]*[\w$/{}.()'+=-])?$/;
/** Words that YAML 1.1 or 1.2 reads as another type. */
const RESERVED = /^(y|n|yes|no|on|off|true|false|null)$/i;
/** Characters outside the printable set of YAML (YAML 1.2 section 5.1), and those that some readers take for breaks. */
const UNPRINTABLE = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

/**
 * Writes a JSON value as YAML 1.2, in block style. Strings that need quotation marks are JSON strings. By hand: js-yaml
 * for browsers has 80 KB, nearly as much as the rest of the page.
 */
export function yamlOf(value: unknown): string {
  return `${block(value, '').replace(/^[\n ]/, '')}\n`;
}

/** What follows a key or a dash: a space and a scalar, or lines with a deeper indentation. */
function block(value: unknown, indent: string): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return ' []';
    return value.map((one) => `\n${indent}-${nested(block(one, `${indent}  `))}`).join('');
  }
  if (typeof value !== 'object' || value === null) return ` ${scalar(value)}`;
  const members = Object.entries(value);
  if (members.length === 0) return ' {}';
  return members.map(([name, inner]) => `\n${indent}${scalar(name)}:${block(inner, `${indent}  `)}`).join('');
}

/** The first line of a list or an object stands on the line of its dash. */
function nested(lines: string): string {
  return lines.replace(/^\n */, ' ');
}

function scalar(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (PLAIN.test(value) && !RESERVED.test(value)) return value;
  return JSON.stringify(value).replaceAll(UNPRINTABLE, unicodeEscape);
}
