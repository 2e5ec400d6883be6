import { isDeepStrictEqual } from 'node:util';
import type { JsonSchema } from '../core/json-schema.js';

type Section = 'schemas' | 'responses' | 'parameters' | 'headers';
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

  toJSON(): object {
    return this.sections;
  }
}
