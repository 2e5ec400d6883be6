import { expect } from 'chai';
import { loadTracing } from '#src/config/settings.js';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
const [PROTOBUF, TEXT] = [{ protocol: 'http/protobuf' }, { protocol: 'http/json' }];

describe('the settings of traces', () => {
  for (const [environment, expected] of [
    [{}, {}],
    [ENDPOINT, PROTOBUF],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://x.example/v1/traces' }, PROTOBUF],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, PROTOBUF],
    [{ OTEL_TRACES_EXPORTER: 'none', ...ENDPOINT }, {}],
    [{ OTEL_SDK_DISABLED: 'TRUE', OTEL_TRACES_EXPORTER: 'otlp', ...ENDPOINT }, {}],
    [{ OTEL_SDK_DISABLED: 'false', ...ENDPOINT }, PROTOBUF],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: ' ', OTEL_TRACES_EXPORTER: '' }, {}],
    [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://127.0.0.1:4318' }, {}],
    [{ OTEL_SERVICE_NAME: 'shop', OTEL_TRACES_SAMPLER: 'always_on' }, {}],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }, {}],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', ...ENDPOINT }, TEXT],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json', ...ENDPOINT }, TEXT],
  ] as const)
    it(`${JSON.stringify(environment)}: ${expected.protocol ?? 'off'}`, () => {
      expect(loadTracing(environment)).to.deep.equal(expected);
    });

  for (const [environment, name] of [
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', ...ENDPOINT }, 'gRPC'],
    [{ OTEL_TRACES_EXPORTER: 'console', ...ENDPOINT }, 'OTEL_TRACES_EXPORTER'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'secret@host:4318' }, 'OTEL_EXPORTER_OTLP_ENDPOINT'],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'grpc://secret@host' }, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'],
  ] as const)
    it(`${JSON.stringify(environment)}: off, and says why`, () => {
      const { protocol, problem } = loadTracing(environment);
      expect(protocol).to.equal(undefined);
      expect(problem).to.include(name).and.not.include('secret');
    });
});
