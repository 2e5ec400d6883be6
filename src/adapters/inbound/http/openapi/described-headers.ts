import type { Components, Reference } from './components.js';
import type { AnsweredHeader } from './description.js';
import { REQUEST_HEADERS, RESPONSE_HEADERS, type RequestHeader, type ResponseHeader } from './headers.js';

/** Headers, each of which stands in the document once. */
export class DescribedHeaders {
  constructor(private readonly components: Components) {}

  requested(names: readonly RequestHeader[]): Reference[] {
    return names.map((name) =>
      this.components.share('parameters', name, { ...REQUEST_HEADERS[name], in: 'header' }),
    );
  }

  required(names: readonly RequestHeader[]): object[] {
    return names.map((name) => ({ ...REQUEST_HEADERS[name], in: 'header', required: true }));
  }

  answered(names: readonly AnsweredHeader[]): Record<string, object> {
    return Object.fromEntries(names.map((name) => this.answeredOne(name)));
  }

  private answeredOne(name: AnsweredHeader): [ResponseHeader, object] {
    if (!isOptional(name)) return [name, this.components.share('headers', name, RESPONSE_HEADERS[name])];
    const plain = name.slice(1) as ResponseHeader;
    return [plain, { ...RESPONSE_HEADERS[plain], required: false }];
  }
}

function isOptional(name: AnsweredHeader): name is `?${ResponseHeader}` {
  return name.startsWith('?');
}
