import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

// biome-ignore lint/suspicious/noExplicitAny: the structure of an OpenAPI document is not typed
export type Node = any;

const NAME = 'document';

/** A node of a document and its JSON pointer, after references are resolved. */
export interface Location {
  readonly node: Node;
  readonly pointer: string;
}

/**
 * An OpenAPI document that resolves references and validates values against its schemas. It never changes, so what was
 * found once is kept: most tests check every response.
 */
export class OpenApiDocument {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true });
  private readonly locations = new Map<string, Location | undefined>();
  private readonly validators = new Map<string, ValidateFunction>();

  constructor(readonly root: Node) {
    formats.default(this.ajv);
    this.ajv.addSchema(root, NAME);
  }

  /** Returns the node at a path from the root, or undefined if there is none. */
  at(...steps: readonly (string | number)[]): Location | undefined {
    const key = steps.join('\n');
    if (!this.locations.has(key)) this.locations.set(key, this.find(steps));
    return this.locations.get(key);
  }

  private find(steps: readonly (string | number)[]): Location | undefined {
    let location: Location = { node: this.root, pointer: '' };
    for (const step of steps) {
      location = this.resolve({ node: location.node?.[step], pointer: `${location.pointer}/${escapeToken(step)}` });
      if (location.node === undefined) return undefined;
    }
    return location;
  }

  /**
   * Returns the validation errors of a value against the schema at a location.
   * @param isIssue by default, every error is one
   */
  issues({ pointer }: Location, value: unknown, isIssue: (error: ErrorObject) => boolean = () => true): string[] {
    const validate = this.validators.get(pointer) ?? this.ajv.getSchema(`${NAME}#${encodeURI(pointer)}`);
    if (!validate) throw new Error(`There is no schema at ${pointer}.`);
    this.validators.set(pointer, validate);
    if (validate(value)) return [];
    return (validate.errors ?? [])
      .filter(isIssue)
      .map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`);
  }

  private resolve(location: Location): Location {
    const reference: unknown = location.node?.$ref;
    if (typeof reference !== 'string') return location;
    const steps = reference.slice(2).split('/');
    return this.at(...steps.map(unescapeToken)) ?? { node: undefined, pointer: reference };
  }
}

/**
 * Returns a copy that forbids undeclared members of responses. The document allows them, because clients must ignore
 * new ones; the service must not send any. Schemas of requests never say `additionalProperties: true`.
 */
export function closed(root: Node): Node {
  const { schemas } = root.components;
  return JSON.parse(JSON.stringify(root), (_, value) => {
    if (value?.allOf) {
      // Each part must allow the members of the others.
      const parts = value.allOf.map(({ $ref, ...own }: Node) => ($ref ? schemas[$ref.split('/').at(-1)] : own));
      const properties = Object.assign({}, ...parts.map((part: Node) => part.properties));
      const required = parts.flatMap((part: Node) => part.required ?? []);
      return { type: 'object', properties, required, additionalProperties: false };
    }
    return value?.properties && value.additionalProperties === true ? { ...value, additionalProperties: false } : value;
  });
}

/** Escapes a reference token of a JSON pointer (RFC 6901 section 3). */
function escapeToken(step: string | number): string {
  return String(step).replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescapeToken(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
