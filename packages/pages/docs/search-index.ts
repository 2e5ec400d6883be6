import type { AnySchema, Schema } from './openapi.js';
import type { Operation } from './operations.js';
import type { References } from './references.js';

/** What the search looks through: the words that a link shows, and all other words about the same thing. */
export interface SearchEntry {
  readonly title: string;
  readonly text: string;
}

/** Characters around the found word in an excerpt. */
const BEFORE = 20;
const AFTER = 50;

export function operationEntry({ id, method, path, summary, ...rest }: Operation): SearchEntry {
  const parts = [
    path,
    id,
    rest.tag,
    rest.description,
    ...rest.parameters.map(({ name, description }) => `${name}: ${description ?? ''}`),
    rest.body?.description,
    ...rest.responses.map(([, { description }]) => description),
  ];
  return { title: `${method} ${summary === '' ? path : summary}`, text: joined(parts) };
}

export function modelEntry(name: string, references: References): SearchEntry {
  return { title: name, text: joined(wordsOf(references.schema({ $ref: `#/components/schemas/${name}` }))) };
}

export function errorEntry(title: string, ...texts: readonly string[]): SearchEntry {
  return { title, text: joined(texts) };
}

/** The names, descriptions and values of a schema and of the schemas within it. References are not followed. */
function wordsOf(schema: AnySchema | undefined): (string | undefined)[] {
  if (typeof schema !== 'object' || '$ref' in schema) return [];
  const own = schema as Schema;
  const within = [
    own.items,
    own.additionalProperties,
    ...Object.values(own.patternProperties ?? {}),
    ...(own.oneOf ?? []),
    ...(own.anyOf ?? []),
    ...(own.allOf ?? []),
  ];
  return [
    own.description,
    ...(own.enum ?? []).map(String),
    ...Object.entries(own.properties ?? {}).flatMap(([name, inner]) => [name, ...wordsOf(inner)]),
    ...within.flatMap(wordsOf),
  ];
}

function joined(parts: readonly (string | undefined)[]): string {
  return parts.filter(Boolean).join(' · ').replaceAll('`', '').replaceAll(/\s+/g, ' ');
}

/**
 * Searches an entry for words, in any order and whatever their case.
 * @returns nothing if a word is missing; else an excerpt around the first word that the title does not show
 */
export function search({ title, text }: SearchEntry, query: string): { readonly excerpt: string } | undefined {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const [shown, hidden] = [title.toLowerCase(), text.toLowerCase()];
  if (!words.every((word) => shown.includes(word) || hidden.includes(word))) return undefined;
  const word = words.find((one) => !shown.includes(one));
  return { excerpt: word === undefined ? '' : excerptAt(text, hidden.indexOf(word)) };
}

function excerptAt(text: string, at: number): string {
  const [start, end] = [Math.max(0, at - BEFORE), at + AFTER];
  return `${start > 0 ? '…' : ''}${text.slice(start, end).trim()}${end < text.length ? '…' : ''}`;
}
