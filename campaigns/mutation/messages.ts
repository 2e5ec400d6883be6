/**
 * A plug-in of Stryker. It leaves out what only people read: the texts of messages, and the descriptions of
 * parameters in the OpenAPI document, which have tests of their own. Tests that repeat each sentence would find no defect.
 */

/** A node of Babel's tree, as far as this file reads it. */
interface Node {
  readonly type: string;
  readonly value?: unknown;
  readonly quasis?: readonly { readonly value: { readonly raw: string } }[];
  readonly id?: { readonly name?: string } | null;
  readonly key?: { readonly name?: string };
}

/** Two words with a space between them. Codes, names and patterns have none. */
const PROSE = /[\p{L}\p{P}] [\p{L}\d$]/u;

const DESCRIPTION = /descriptions?$/i;

function reasonToIgnore({ node }: { readonly node: Node }): string | undefined {
  if (PROSE.test(textOf(node))) return 'a message';
  return DESCRIPTION.test(nameOf(node)) ? 'a description' : undefined;
}

function textOf({ type, value, quasis = [] }: Node): string {
  if (type === 'StringLiteral') return String(value);
  return type === 'TemplateLiteral' ? quasis.map((quasi) => quasi.value.raw).join('$') : '';
}

function nameOf({ type, id, key }: Node): string {
  if (type === 'FunctionDeclaration' || type === 'VariableDeclarator') return id?.name ?? '';
  return type === 'ClassMethod' || type === 'ObjectMethod' ? (key?.name ?? '') : '';
}

/** Stryker reads this name. */
export const strykerPlugins = [{ kind: 'Ignore', name: 'messages', value: { shouldIgnore: reasonToIgnore } }] as const;
