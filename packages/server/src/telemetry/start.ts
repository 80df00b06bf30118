/** Exports metrics and event traces to an OpenTelemetry collector while `OTEL_EXPORTER_OTLP_ENDPOINT` is set. */
import { hostname } from 'node:os';
import { request } from 'undici';
import type { Settings } from '../config.ts';
import type { Clock } from '../runtime/clock.ts';
import { errorText } from '../runtime/error-text.ts';
import type { Logger } from '../runtime/logger.ts';
import type { ReadMetrics } from '../runtime/metric-families.ts';
import { VERSION } from '../version.ts';
import { type EncodedSpan, encodeMetrics, encodeSpans, type Resource } from './otlp.ts';
import { registryMetrics } from './registry-metrics.ts';

/** Spans that wait for the collector. Beyond it new ones are dropped and counted: telemetry never holds events back. */
const MAX_WAITING = 8_192;
const MAX_SPANS_PER_REQUEST = 512;
const SPANS_INTERVAL_MS = 2_000;
const LOG_INTERVAL_MS = 60_000;

export interface TelemetryDeps {
  settings: Pick<Settings, 'otelHeaders' | 'otelServiceName' | 'otelResourceAttributes' | 'otelMetricIntervalMs'>;
  /** The collector's address, without a slash at its end. */
  endpoint: string;
  readMetrics: ReadMetrics;
  clock: Clock;
  logger: Logger;
}
export interface Telemetry {
  /** Returns at once. */
  addSpans(spans: readonly EncodedSpan[]): void;
  /** Sends what waits, once, and stops. */
  stop(): Promise<void>;
}

export function startTelemetry({ settings, endpoint, readMetrics, clock, logger }: TelemetryDeps): Telemetry {
  const { otelHeaders, otelServiceName, otelResourceAttributes, otelMetricIntervalMs } = settings;
  const began = clock.now();
  const resource: Resource = {
    attributes: {
      'service.name': otelServiceName,
      'service.version': VERSION,
      'service.instance.id': `${hostname()}:${process.pid}`,
      ...otelResourceAttributes,
    },
  };
  let waiting: EncodedSpan[] = [];
  let dropped = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;

  function complain(reason: string): void {
    if (clock.monotonic() - loggedAt < LOG_INTERVAL_MS) return;
    loggedAt = clock.monotonic();
    logger.warn({ reason, spans_dropped: dropped }, 'telemetry not exported');
  }

  /** `later`: the same body may succeed when it is sent again. */
  async function post(path: string, body: string): Promise<'sent' | 'refused' | 'later'> {
    try {
      const reply = await request(`${endpoint}${path}`, {
        method: 'POST',
        headers: { ...otelHeaders, 'content-type': 'application/json' },
        body,
        headersTimeout: 10_000,
        bodyTimeout: 10_000,
      });
      await reply.body.dump();
      if (reply.statusCode < 300) return 'sent';
      complain(`the collector answered ${reply.statusCode} on ${path}`);
      return [429, 502, 503, 504].includes(reply.statusCode) ? 'later' : 'refused';
    } catch (error) {
      complain(errorText(error));
      return 'later';
    }
  }

  async function sendSpans(): Promise<void> {
    while (waiting.length > 0) {
      const part = waiting.slice(0, MAX_SPANS_PER_REQUEST);
      const result = await post('/v1/traces', encodeSpans(resource, part));
      if (result === 'later') return;
      if (result === 'refused') dropped += part.length;
      waiting = waiting.slice(part.length);
    }
  }
  async function sendMetrics(): Promise<void> {
    await post('/v1/metrics', encodeMetrics(resource, registryMetrics(await readMetrics()), began, clock.now()));
  }

  const spans = repeat(sendSpans, SPANS_INTERVAL_MS, complain);
  const metrics = repeat(sendMetrics, otelMetricIntervalMs, complain);
  return {
    addSpans(added) {
      const taken = added.slice(0, MAX_WAITING - waiting.length);
      waiting.push(...taken);
      dropped += added.length - taken.length;
    },
    async stop() {
      await Promise.all([spans.stop(), metrics.stop()]);
    },
  };
}

/** Runs it again and again, never twice at once; once more when it stops. */
function repeat(run: () => Promise<void>, intervalMs: number, complain: (reason: string) => void): { stop(): Promise<void> } {
  let running = Promise.resolve();
  const next = () => (running = running.then(run).catch((error) => complain(errorText(error))));
  const timer = setInterval(next, intervalMs).unref();
  return {
    async stop() {
      clearInterval(timer);
      await next();
    },
  };
}
