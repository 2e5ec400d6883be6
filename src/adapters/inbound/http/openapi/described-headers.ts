import type { Components, Reference } from './components.js';
import { REQUEST_HEADERS, RESPONSE_HEADERS, type RequestHeader, type ResponseHeader } from './headers.js';

/** The headers of one version of the interface, each of which stands in the document once. */
export class DescribedHeaders {
  constructor(
    private readonly components: Components,
    private readonly version: number,
  ) {}

  requested(names: readonly RequestHeader[]): object[] {
    return names.map((name) => {
      const header = { ...REQUEST_HEADERS[name], in: 'header' };
      if (name !== 'ApiVersion') return this.components.share('parameters', name, header);
      const version = String(this.version);
      const schema = { ...header.schema, enum: [version] };
      return this.components.share('parameters', `${name}${this.version}`, {
        ...header,
        schema,
        example: version,
      });
    });
  }

  required(names: readonly RequestHeader[]): object[] {
    return names.map((name) => ({ ...REQUEST_HEADERS[name], in: 'header', required: true }));
  }

  answered(names: readonly ResponseHeader[]): Record<string, object> {
    return Object.fromEntries(names.map((name) => [name, this.answeredOne(name)]));
  }

  optional(names: readonly ResponseHeader[]): Record<string, object> {
    return Object.fromEntries(names.map((name) => [name, { ...RESPONSE_HEADERS[name], required: false }]));
  }

  private answeredOne(name: ResponseHeader): Reference {
    if (name !== 'API-Version') return this.components.share('headers', name, RESPONSE_HEADERS[name]);
    const schema = { ...RESPONSE_HEADERS[name].schema, enum: [String(this.version)] };
    const header = { ...RESPONSE_HEADERS[name], schema };
    return this.components.share('headers', `${name}-${this.version}`, header);
  }
}
