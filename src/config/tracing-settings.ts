const PROTOCOLS = ['http/protobuf', 'http/json'] as const;

/** The encodings of OTLP that the service can send. */
export type OtlpProtocol = (typeof PROTOCOLS)[number];

/** What the standard variables of OpenTelemetry ask for. */
export interface TracingSettings {
  /** Undefined: no traces. */
  readonly protocol?: OtlpProtocol;
  /** Why traces are off although a variable asks for them. Quotes no value that may hold a secret. */
  readonly problem?: string;
}

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;

/**
 * Reads whether traces are recorded, and how they are encoded. They are recorded if OTEL_TRACES_EXPORTER is `otlp`, or
 * if it is not set and an endpoint is. An empty variable counts as not set. The SDK reads the other variables itself.
 */
export function loadTracing(environment: NodeJS.ProcessEnv = process.env): TracingSettings {
  const get = (name: string) => environment[name]?.trim() || undefined;
  if (get('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return {};
  const exporter = get('OTEL_TRACES_EXPORTER');
  if (exporter === 'none') return {};
  if (exporter === undefined && !ENDPOINTS.some(get)) return {};
  if (exporter !== undefined && exporter !== 'otlp')
    return { problem: 'OTEL_TRACES_EXPORTER must be otlp or none' };
  for (const name of ENDPOINTS) {
    const endpoint = get(name);
    if (endpoint !== undefined && !/^https?:$/.test(protocolOf(endpoint)))
      return { problem: `${name} must be an http or https address` };
  }
  const named = get('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? get('OTEL_EXPORTER_OTLP_PROTOCOL');
  const protocol = PROTOCOLS.find((one) => one === (named ?? PROTOCOLS[0]));
  return protocol
    ? { protocol }
    : { problem: `the protocol of OTLP must be ${PROTOCOLS.join(' or ')}; gRPC is not supported` };
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : '';
}
