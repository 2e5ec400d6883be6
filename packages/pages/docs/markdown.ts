import { type Child, element } from './element.js';

/** Markdown within a line: code, strong and emphasised words, links. */
const MARKED = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)\s]+)\)/g;
const ITEM = /^\s*[-*] /;
/** URLs that cannot run a script. */
const SAFE = /^(https?:\/\/|#|\/(?!\/))/;

/** Renders the part of Markdown that descriptions use: paragraphs, lists, and the marks within lines. */
export function markdown(text: string): HTMLElement | undefined {
  if (text.trim() === '') return undefined;
  const blocks = text.trim().split(/\n\s*\n/);
  return element('div', { class: 'markdown' }, ...blocks.map(block));
}

export function inlineMarkdown(text: string): Child[] {
  const parts: Child[] = [];
  let end = 0;
  for (const match of text.matchAll(MARKED)) {
    parts.push(text.slice(end, match.index), mark(match));
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)];
}

function block(text: string): HTMLElement {
  const lines = text.split('\n');
  if (!lines.every((line) => ITEM.test(line))) return element('p', {}, ...inlineMarkdown(text));
  return element('ul', {}, ...lines.map((line) => element('li', {}, ...inlineMarkdown(line.replace(ITEM, '')))));
}

function mark([whole, code, strong, emphasised, label, url]: RegExpExecArray): Child {
  if (code !== undefined) return element('code', {}, code);
  if (strong !== undefined) return element('strong', {}, strong);
  if (emphasised !== undefined) return element('em', {}, emphasised);
  if (label === undefined || url === undefined || !SAFE.test(url)) return whole;
  return element('a', { href: url, rel: 'noreferrer' }, label);
}
