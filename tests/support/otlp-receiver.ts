import { createServer, type Server } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { listen } from '#src/process/listen.js';
import { endServer } from './end-server.js';

/** A span as OTLP's JSON encoding has it, with its attributes by name and those of its resource. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** 1: internal, 2: server, 3: client. */
  readonly kind: number;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly events?: readonly unknown[];
  readonly values: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface TraceRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, 'values' | 'resource'> & {
        readonly attributes: readonly Attribute[];
      })[];
    }[];
  }[];
}

/** A collector of traces (OTLP 1.x over HTTP) for the tests of one `describe`. */
export class OtlpReceiver {
  readonly requests: { readonly path: string; readonly type: string; readonly body: Buffer }[] = [];
  /** The status of each response; undefined: there is none. */
  status: number | undefined = 200;
  private readonly server: Server;

  constructor() {
    this.server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { 'content-type': type = '', 'content-encoding': coding } = request.headers;
      const bytes = Buffer.concat(chunks);
      const body = coding === 'gzip' ? gunzipSync(bytes) : bytes;
      this.requests.push({ path: request.url ?? '', type, body });
      if (this.status === undefined) return;
      response.writeHead(this.status, { 'Content-Type': type }).end(type.endsWith('json') ? '{}' : '');
    });
  }

  /** @returns its URL, without a path */
  async start(): Promise<string> {
    return `http://127.0.0.1:${await listen(this.server, '127.0.0.1', 0)}`;
  }

  stop(): Promise<void> {
    return endServer(this.server);
  }

  /** All spans that arrived in the JSON encoding. */
  get spans(): ReceivedSpan[] {
    return this.requests
      .filter(({ type }) => type === 'application/json')
      .flatMap(({ body }) => (JSON.parse(body.toString()) as TraceRequest).resourceSpans)
      .flatMap(({ resource, scopeSpans }) =>
        scopeSpans.flatMap(({ spans }) =>
          spans.map(({ attributes, ...span }) => {
            return { ...span, values: valuesOf(attributes), resource: valuesOf(resource.attributes) };
          }),
        ),
      );
  }
}

function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
