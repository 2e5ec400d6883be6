interface Definition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
  /** How one value is made of those of several workers. Default: their sum. */
  readonly aggregator?: 'max' | 'min';
}

/**
 * Every metric of the service, besides those of the process by prom-client. The names follow the semantic conventions
 * of OpenTelemetry in the form of Prometheus: https://opentelemetry.io/docs/specs/semconv/http/http-metrics/ and
 * https://opentelemetry.io/docs/specs/semconv/database/database-metrics/
 */
export const DEFINITIONS = {
  http_server_request_duration_seconds: {
    type: 'histogram',
    labels: ['http_request_method', 'http_route', 'http_response_status_code'],
    help: 'Time from a request to the end of its response, without a wait for a change. Without a status if the client left before the response.',
  },
  http_server_active_requests: {
    type: 'gauge',
    labels: [],
    help: 'Requests in progress, without those that wait for a change.',
  },
  api_requests_total: {
    type: 'counter',
    labels: ['api_version', 'deprecated'],
    help: 'Requests for existing paths, by API version and whether that version is deprecated.',
  },
  authentication_failures_total: {
    type: 'counter',
    labels: ['error_code'],
    help: 'Requests that were refused because of their credential, by the error code of the response.',
  },
  idempotent_replays_total: {
    type: 'counter',
    labels: [],
    help: 'Creations, lines of imports included, that an idempotency key recognised as repeated.',
  },
  rate_limit_decisions_total: {
    type: 'counter',
    labels: ['policy', 'decision'],
    help: 'Decisions of the rate limits: default counts requests, auth counts failed authentications.',
  },
  rate_limiter_fallback_total: {
    type: 'counter',
    labels: [],
    help: 'Requests that this process counted on its own because the shared rate limiter did not respond in time.',
  },
  db_client_operation_duration_seconds: {
    type: 'histogram',
    labels: ['db_system_name', 'db_collection_name', 'db_operation_name', 'error_type'],
    help: 'Time of calls of the store and of Redis, waits included. With error_type if they failed.',
  },
  db_client_connection_count: {
    type: 'gauge',
    labels: ['db_client_connection_pool_name', 'db_client_connection_state'],
    help: 'Open connections to the store, by state: used or idle.',
  },
  db_client_connection_max: {
    type: 'gauge',
    labels: ['db_client_connection_pool_name'],
    help: 'The most connections that the pool opens. Absent if there is no limit.',
  },
  db_client_connection_pending_requests: {
    type: 'gauge',
    labels: ['db_client_connection_pool_name'],
    help: 'Calls that wait for a connection; of the pool writer, writes that wait for the next commit.',
  },
  db_client_connection_timeouts_total: {
    type: 'counter',
    labels: ['db_client_connection_pool_name'],
    help: 'Calls that got no connection in time; of the pool writer, commits that got no lock in time.',
  },
  changes_delay_seconds: {
    type: 'gauge',
    labels: [],
    help: 'How long the oldest change waits that no feed shows yet. Absent if the store shows every change at once.',
    aggregator: 'max',
  },
  work_in_progress: {
    type: 'gauge',
    labels: ['work'],
    help: 'Imports, exports and waits for a change in progress.',
  },
  work_in_progress_bytes: {
    type: 'gauge',
    labels: ['work'],
    help: 'Bytes of the bodies, responses and lines of imports that are held in memory, small ones excepted.',
  },
  work_waiting: {
    type: 'gauge',
    labels: ['work'],
    help: 'Requests that wait because their client, or all clients, reached a limit of concurrent work.',
  },
  work_refused_total: {
    type: 'counter',
    labels: ['work'],
    help: 'Requests that were refused with 503 because of a limit of concurrent work.',
  },
  data_dir_available_bytes: {
    type: 'gauge',
    labels: [],
    help: 'Free space that the service may use on the file system of DATA_DIR.',
    aggregator: 'min',
  },
  data_dir_size_bytes: {
    type: 'gauge',
    labels: [],
    help: 'Size of the file system of DATA_DIR.',
    aggregator: 'max',
  },
  tls_certificate_expires_in_seconds: {
    type: 'gauge',
    labels: [],
    help: 'Time until the certificate that is served now expires. Absent behind a proxy that ends TLS.',
    aggregator: 'min',
  },
  webhook_deliveries_total: {
    type: 'counter',
    labels: ['outcome'],
    help: 'Attempts to send a message of a webhook: accepted with 2xx, rejected with another status, failed without a response.',
  },
  webhook_pauses_total: {
    type: 'counter',
    labels: ['reason'],
    help: 'Webhooks that were paused: expired if changes may be missing, gone if the receiver responded with 410, key if the API key has ended, damaged if it is stored with values that this release does not know.',
  },
  webhook_lag_seconds: {
    type: 'gauge',
    labels: [],
    help: 'How long the oldest message that its receiver did not take has waited. 0 if there is none.',
    aggregator: 'max',
  },
  build_info: {
    type: 'gauge',
    labels: ['version', 'nodejs_version', 'store', 'rate_limiter'],
    help: 'Always 1. The labels describe the program.',
    aggregator: 'max',
  },
  worker_processes: { type: 'gauge', labels: [], help: 'Processes that serve requests.' },
  worker_processes_reporting: {
    type: 'gauge',
    labels: [],
    help: 'Processes whose current figures are in this report. Of the others it has the last known ones.',
  },
} as const satisfies Readonly<Record<string, Definition>>;

export type MetricName = keyof typeof DEFINITIONS;

/** The labels of a metric. One that is undefined does not apply. */
export type Labels<Name extends MetricName> = {
  readonly [Label in (typeof DEFINITIONS)[Name]['labels'][number]]: string | undefined;
};

/** One value of a metric that is not a histogram. */
export interface Sample<Name extends MetricName> {
  readonly labels: Labels<Name>;
  readonly value: number;
}

export function definitionOf(name: MetricName): Definition {
  return DEFINITIONS[name];
}
