import type { AnySchema, OpenApi, Referable, Reference, Schema } from './openapi.js';

/** A chain of references is followed at most this far. */
const MAX_STEPS = 10;

/** Follows the references within one document. */
export class References {
  constructor(private readonly document: OpenApi) {}

  resolve<Value extends object>(value: Referable<Value>): Value {
    let found: object = value;
    for (let step = 0; step < MAX_STEPS && isReference(found); step++) {
      // Members next to a reference override the members of its target.
      const { $ref, ...siblings } = found;
      found = { ...this.find($ref), ...siblings };
    }
    return found as Value;
  }

  schema(schema: AnySchema | undefined): Schema {
    return typeof schema === 'object' ? this.resolve<Schema>(schema) : {};
  }

  /** Follows a JSON Pointer in the form of a URI fragment (RFC 6901 section 6). */
  private find(reference: string): object {
    const steps = reference.replace(/^#\/?/, '').split('/');
    const names = steps.map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'));
    let found: unknown = this.document;
    for (const name of names) found = (found as Record<string, unknown> | undefined)?.[name];
    return typeof found === 'object' && found !== null ? found : {};
  }
}

export function isReference(value: object): value is Reference {
  return '$ref' in value && typeof value.$ref === 'string';
}
