import type { AnySchema, OpenApi, Referable, Reference, Schema } from './openapi.js';

/** A reference to a reference is followed so many times, and no further. */
const MAX_STEPS = 10;

/** Follows the references within one document. */
export class References {
  constructor(private readonly document: OpenApi) {}

  resolve<Value extends object>(value: Referable<Value>): Value {
    let found: object = value;
    for (let step = 0; step < MAX_STEPS && isReference(found); step++) {
      // What stands beside a reference says more than what it names.
      const { $ref, ...beside } = found;
      found = { ...this.find($ref), ...beside };
    }
    return found as Value;
  }

  schema(schema: AnySchema | undefined): Schema {
    return typeof schema === 'object' ? this.resolve<Schema>(schema) : {};
  }

  /** RFC 6901, in the form of a fragment. */
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
