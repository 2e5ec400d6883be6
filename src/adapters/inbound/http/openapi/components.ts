import { isDeepStrictEqual } from 'node:util';
import type { JsonSchema } from './json-schema.js';

type Section = 'schemas' | 'responses' | 'parameters' | 'headers' | 'examples';
export type Reference = { readonly $ref: string };

/** The Components Object of the document: the parts that several operations share. */
export class Components {
  private readonly sections: Record<Section, Record<string, object>> = {
    schemas: {},
    responses: {},
    parameters: {},
    headers: {},
    examples: {},
  };

  /** @throws Error if another value has this name */
  share(section: Section, name: string, value: object): Reference {
    const reference = this.shareIfEqual(section, name, value);
    if (!reference) throw new Error(`Two different ${section} are named ${name}.`);
    return reference;
  }

  /** @returns undefined if another value has this name */
  shareIfEqual(section: Section, name: string, value: object): Reference | undefined {
    const existing = this.sections[section][name];
    if (existing !== undefined && !isDeepStrictEqual(existing, value)) return undefined;
    this.sections[section][name] = value;
    return { $ref: `#/components/${section}/${name}` };
  }

  schemas(schemas: Readonly<Record<string, JsonSchema>>): void {
    for (const [name, schema] of Object.entries(schemas)) this.share('schemas', name, schema);
  }

  /** Without empty sections. */
  toJSON(): object {
    return Object.fromEntries(Object.entries(this.sections).filter(([, all]) => Object.keys(all).length > 0));
  }
}
