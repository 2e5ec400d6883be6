import { isDeepStrictEqual } from 'node:util';
import type { JsonSchema } from '../core/json-schema.js';

const SECTIONS = ['schemas', 'responses', 'parameters', 'headers'] as const;
type Section = (typeof SECTIONS)[number];
export type Reference = { readonly $ref: string };

/** The Components Object of the document: the parts that several operations share. */
export class Components {
  private readonly sections: Record<Section, Record<string, object>> = {
    schemas: {},
    responses: {},
    parameters: {},
    headers: {},
  };

  /** @throws Error if another value has this name */
  share(section: Section, name: string, value: object): Reference {
    const existing = this.sections[section][name];
    if (existing !== undefined && !isDeepStrictEqual(existing, value))
      throw new Error(`Two different ${section} are named ${name}.`);
    this.sections[section][name] = value;
    return { $ref: `#/components/${section}/${name}` };
  }

  schemas(schemas: Readonly<Record<string, JsonSchema>>): void {
    for (const [name, schema] of Object.entries(schemas)) this.share('schemas', name, schema);
  }

  /** Moves each parameter that several operations have to where all of them refer to it. */
  shareParameters(operations: readonly { parameters?: readonly object[] }[]): void {
    const uses = new Map<string, number>();
    for (const { parameters = [] } of operations)
      for (const one of parameters) uses.set(JSON.stringify(one), (uses.get(JSON.stringify(one)) ?? 0) + 1);
    const references = new Map<string, Reference>();
    // Generators make one type of `Id` and `id`.
    const taken = new Set(Object.keys(this.sections.parameters).map((name) => name.toLowerCase()));
    const refer = (parameter: object): object => {
      const text = JSON.stringify(parameter);
      if ('$ref' in parameter || uses.get(text) === 1) return parameter;
      const known = references.get(text);
      if (known) return known;
      const plain = (parameter as { name: string }).name;
      let name = plain;
      for (let number = 2; taken.has(name.toLowerCase()); number++) name = `${plain}${number}`;
      taken.add(name.toLowerCase());
      const reference = this.share('parameters', name, parameter);
      references.set(text, reference);
      return reference;
    };
    for (const operation of operations)
      if (operation.parameters) operation.parameters = operation.parameters.map(refer);
  }

  /** Returns what a part of the document refers to, directly or through another component. */
  usedBy(part: object): Readonly<Record<Section, Readonly<Record<string, object>>>> {
    const used = new Set<string>();
    const visit = (value: unknown): void => {
      for (const [, section, name] of JSON.stringify(value).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
        if (used.has(`${section}/${name}`)) continue;
        used.add(`${section}/${name}`);
        visit(this.sections[section as Section][name ?? '']);
      }
    };
    visit(part);
    const entries = SECTIONS.map((section) => [
      section,
      Object.fromEntries(Object.entries(this.sections[section]).filter(([name]) => used.has(`${section}/${name}`))),
    ]);
    return Object.fromEntries(entries);
  }
}
