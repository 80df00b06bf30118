import { anyText, headers, keyValuePairs, publicUrl, ratio, wholeNumber } from '../parsers.ts';
import { optional, setting } from '../setting.ts';

export const OPENTELEMETRY = {
  otelEndpoint: optional({
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    unset: 'nothing is exported',
    parser: publicUrl,
    meaning:
      'Address of an OpenTelemetry collector, such as `http://collector:4318`. Metrics and event traces are sent there as OTLP over HTTP (JSON).',
  }),
  otelHeaders: optional({
    variable: 'OTEL_EXPORTER_OTLP_HEADERS',
    unset: 'none',
    parser: headers,
    secret: true,
    meaning: 'Headers for the collector, as `name=value,name=value`.',
  }),
  otelServiceName: setting({
    variable: 'OTEL_SERVICE_NAME',
    default: 'firsthand',
    parser: anyText,
    meaning: 'Name under which the collector sees this service.',
  }),
  otelResourceAttributes: optional({
    variable: 'OTEL_RESOURCE_ATTRIBUTES',
    unset: 'none',
    parser: keyValuePairs,
    meaning: 'Further attributes of every span and metric, such as `deployment.environment.name=production`.',
  }),
  otelMetricIntervalMs: setting({
    variable: 'OTEL_METRIC_EXPORT_INTERVAL',
    default: '60000',
    parser: wholeNumber(1_000, 3_600_000, 'milliseconds from 1000 to 3600000'),
    meaning: 'Milliseconds between two exports of the metrics.',
  }),
  otelTraceRatio: setting({
    variable: 'OTEL_TRACES_SAMPLER_ARG',
    default: '1',
    parser: ratio,
    meaning: 'Share of events that are traced, from 0 to 1. An event is traced with all its deliveries or not at all.',
  }),
};
