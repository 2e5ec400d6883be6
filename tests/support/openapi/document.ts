import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document is walked by its own words
export type Node = any;

const NAME = 'document';

/** Something in a document, and where that is once references are followed. */
export interface Location {
  readonly node: Node;
  readonly pointer: string;
}

/** An OpenAPI document that can be walked, and whose schemas judge. */
export class OpenApiDocument {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true });

  constructor(readonly root: Node) {
    formats.default(this.ajv);
    this.ajv.addSchema(root, NAME);
  }

  at(...steps: readonly (string | number)[]): Location | undefined {
    let location: Location = { node: this.root, pointer: '' };
    for (const step of steps) {
      location = this.followed({
        node: location.node?.[step],
        pointer: `${location.pointer}/${escaped(step)}`,
      });
      if (location.node === undefined) return undefined;
    }
    return location;
  }

  /** @returns what is wrong with a value by the schema at a place; nothing where nothing is */
  issues({ pointer }: Location, value: unknown): string[] {
    const validate = this.ajv.getSchema(`${NAME}#${encodeURI(pointer)}`);
    if (!validate) throw new Error(`There is no schema at ${pointer}.`);
    validate(value);
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }

  private followed(location: Location): Location {
    const reference: unknown = location.node?.$ref;
    if (typeof reference !== 'string') return location;
    const steps = reference.slice(2).split('/');
    return this.at(...steps.map(unescaped)) ?? { node: undefined, pointer: reference };
  }
}

/** RFC 6901 section 3. */
function escaped(step: string | number): string {
  return String(step).replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
