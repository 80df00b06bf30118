/** What an operator relies on: the metrics by their names, alerts that arrive, and a stop that refuses nobody. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../packages/server/test/servers/index.ts';
import { type Client, pipelineTo, send, signIn, until } from './harness/client.ts';
import { type Mailbox, startMailbox } from './harness/mailbox.ts';
import { type Receiver, startReceiver } from './harness/receiver.ts';
import { onServers, type Service, startService } from './harness/service.ts';

let service: Service;
let client: Client;
let receiver: Receiver;
let metricsUrl: string;
let mailbox: Mailbox;

let otelCollector: Receiver;

beforeAll(async () => {
  otelCollector = await startReceiver();
  const metricsPort = await freePort();
  metricsUrl = `http://127.0.0.1:${metricsPort}`;
  receiver = await startReceiver();
  mailbox = await startMailbox();
  service = await startService({
    METRICS_PORT: String(metricsPort),
    DRAIN_DELAY: '6s',
    ALERT_INTERVAL: '300ms',
    SMTP_URL: mailbox.url,
    SMTP_FROM: 'alerts@shop.example',
    OTEL_EXPORTER_OTLP_ENDPOINT: otelCollector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=collector%20key',
    OTEL_METRIC_EXPORT_INTERVAL: '1000',
  });
  client = await signIn(service);
});
afterAll(async () => {
  await service?.stop();
  await receiver?.close();
  await otelCollector?.close();
  await mailbox?.close();
});

/** The value of one series; undefined where it is not reported. */
async function metric(series: RegExp): Promise<number | undefined> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  const line = text.split('\n').find((one) => !one.startsWith('#') && series.test(one));
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
}

describe('operations', () => {
  test('metrics are served on their own port, by the names that dashboards use', async () => {
    const { key, integration } = await pipelineTo(client, receiver.url);
    await send(service, key, '/v1/t', { type: 'track', event: 'Measured', messageId: 'measured-1' });
    await send(service, key, '/v1/t', { type: 'track', messageId: 'measured-2' });
    await until('the delivery', () => receiver.events().some((event) => event.event_id === 'measured-1'));
    const id = `integration_id="${integration.id}",vendor="webhook"`;
    await until('the counters', async () => (await metric(/^firsthand_events_accepted_total /)) === 1);
    // Counts are flushed every second: the two requests may fall into two flushes.
    await until('the rejection', async () => (await metric(/^firsthand_events_rejected_total\{reason="missing_field"\}/)) === 1);
    const delivered = new RegExp(`^firsthand_delivery_attempts_total\\{${id},outcome="delivered"\\}`);
    await until('the attempt', async () => (await metric(delivered)) === 1);
    await until('an empty backlog', async () => (await metric(new RegExp(`^firsthand_delivery_backlog_events\\{${id}\\}`))) === 0);
    expect(await metric(new RegExp(`^firsthand_delivery_oldest_seconds\\{${id}\\}`))).toBe(0);
    expect(await metric(/^firsthand_accept_duration_seconds_count /)).toBe(1);
    expect(await metric(/^firsthand_delivery_duration_seconds_bucket\{vendor="webhook",le="\+Inf"\}/)).toBe(1);
    expect(await metric(/^firsthand_processing_lag_seconds /)).toBeGreaterThanOrEqual(0);
    expect(await metric(/^firsthand_snapshot_age_seconds /)).toBeGreaterThanOrEqual(0);
    expect(await metric(/^firsthand_event_loop_stall_seconds /)).toBeGreaterThanOrEqual(0);
    expect((await fetch(`${service.url}/metrics`)).status).toBe(404);
  });

  test('an OpenTelemetry collector gets the metrics, and one trace for an event and its delivery', async () => {
    const { key, integration } = await pipelineTo(client, receiver.url);
    await send(service, key, '/v1/t', { type: 'track', event: 'Traced', messageId: 'traced-1' });
    const exported = (path: string) => otelCollector.requests.filter((request) => request.path === path);
    const spans = () =>
      exported('/v1/traces')
        .flatMap(({ body }) => JSON.parse(body).resourceSpans[0].scopeSpans[0].spans)
        .filter((span) => JSON.stringify(span).includes('traced-1'));
    await until('both spans', () => spans().length === 2);
    const process = spans().find(({ name }) => name === 'process track');
    const deliver = spans().find(({ name }) => name === 'deliver');
    expect(deliver).toMatchObject({ traceId: process.traceId, parentSpanId: process.spanId });
    expect(deliver.attributes).toContainEqual({ key: 'firsthand.integration_id', value: { stringValue: integration.id } });
    await until('the metrics', () => exported('/v1/metrics').some(({ body }) => body.includes('firsthand_events_accepted_total')));
    expect(exported('/v1/metrics')[0]?.headers['api-key']).toBe('collector key');
  });

  test('alerts are fired by real faults, and their messages arrive by webhook and by mail', async () => {
    const inbox = await startReceiver();
    const vendor = await startReceiver();
    const { pipeline, key, integration } = await pipelineTo(client, vendor.url);
    await client.put(`/pipelines/${pipeline.id}/tracking-plan`, {
      events: { Planned: { type: 'object', required: ['total'] } },
      on_violation: 'flag',
    });
    const kinds = ['failing', 'dead_letters', 'rejected', 'plan_violations', 'backlog'] as const;
    for (const kind of kinds)
      await client.post('/alerts', {
        name: `Shop ${kind}`,
        kind,
        pipeline_id: pipeline.id,
        threshold: 1,
        window_minutes: 5,
        channels: [
          { type: 'webhook', url: inbox.url },
          { type: 'email', to: 'operator@shop.example' },
        ],
      });
    vendor.answer(() => ({ status: 500 }));
    await send(service, key, '/v1/t', { type: 'track', event: 'Failing', messageId: 'alert-failing' });
    await send(service, key, '/v1/t', { type: 'track', event: 'Planned', messageId: 'alert-plan', properties: {} });
    await send(service, key, '/v1/t', { type: 'track', messageId: 'alert-rejected' });
    const messages = () => inbox.requests.map(({ body }) => JSON.parse(body)) as { type: string; alert: { kind: string } }[];
    const fired = () => new Set(messages().flatMap(({ type, alert }) => (type === 'alert.firing' ? [alert.kind] : [])));
    await until('four alerts', () => ['failing', 'dead_letters', 'rejected', 'plan_violations'].every((kind) => fired().has(kind)));
    vendor.answer(() => 'hang');
    await send(service, key, '/v1/t', { type: 'track', event: 'Waiting', messageId: 'alert-waiting' });
    await until('the backlog', () => fired().has('backlog'));
    expect(messages().find(({ alert }) => alert.kind === 'rejected')).toMatchObject({ type: 'alert.firing', event_id: 'alert-rejected' });
    expect(messages().find(({ alert }) => alert.kind === 'plan_violations')).toMatchObject({ event_id: 'alert-plan' });
    // The vendor refuses both events.
    for (const kind of ['failing', 'dead_letters'])
      expect(messages().find(({ alert }) => alert.kind === kind)).toMatchObject({
        event_id: expect.stringMatching(/^alert-(failing|plan)$/),
      });
    await until('the mails', () => kinds.every((kind) => mailbox.mails.some((mail) => mail.includes(`Subject: Alert: Shop ${kind}`))));
    // The backlog of the first events may have fired and ended before.
    await until('the backlog to fire now', async () => (await client.get('/alerts/firing')).alerts.some(({ kind }) => kind === 'backlog'));
    await client.put(`/pipelines/${pipeline.id}/integrations/${integration.id}`, { enabled: false });
    vendor.answer(() => ({ status: 200 }));
    await vendor.close();
    await inbox.close();
  });

  // rolling-restart.e2e.ts does the same on servers.
  test.skipIf(onServers)('a stop answers draining first, and accepts events until the listener closes', async () => {
    const { key } = await pipelineTo(client, receiver.url);
    const stopped = service.terminate();
    await until('the balancer to see it', async () => {
      const ready = await fetch(`${service.url}/readyz`);
      return ready.status === 503 && ((await ready.json()) as { status: string }).status === 'draining';
    });
    const reply = await send(service, key, '/v1/t', { type: 'track', event: 'Late', messageId: 'late-1' });
    expect([reply.status, reply.headers.get('connection')]).toEqual([200, 'close']);
    expect(await stopped).toBe(0);
    await expect(fetch(`${service.url}/readyz`)).rejects.toThrow();
    await service.start();
    await until('the delivery', () => receiver.events().some((event) => event.event_id === 'late-1'));
  });
});
