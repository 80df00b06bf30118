import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { afterEach, describe, expect, test } from 'vitest';
import type { Role } from '../config.ts';
import { DurationBuckets, registerHistogram } from '../runtime/duration-buckets.ts';
import { familiesOf } from '../runtime/metric-families.ts';
import { healthHandler, metricsText, readiness, type Vitals } from './health.ts';

const well = { log: true, database: true, snapshot: true, draining: false };
function vitals(roles: Role[], wrong: Partial<typeof well> = {}): Vitals {
  const state = { ...well, ...wrong };
  return {
    roles: new Set(roles),
    logAvailable: () => state.log,
    databaseAvailable: () => state.database,
    snapshotLoaded: () => state.snapshot,
    draining: () => state.draining,
  };
}

test.each<[string, Role[], Partial<typeof well>, number, string, string[]]>([
  ['everything works', ['admin', 'ingest', 'process', 'deliver'], {}, 200, 'ready', []],
  ['events flow without the database', ['admin', 'ingest'], { database: false }, 200, 'ready', ['store']],
  ['admin alone needs the database', ['admin'], { database: false }, 503, 'unavailable', ['store']],
  ['ingest needs the log', ['ingest'], { log: false }, 503, 'unavailable', ['log']],
  ['delivery needs the snapshot', ['deliver'], { snapshot: false }, 503, 'starting', ['snapshot']],
  ['admin alone works without the log', ['admin'], { log: false }, 200, 'ready', ['log']],
  ['a draining process takes no new requests', ['ingest'], { draining: true }, 503, 'draining', []],
])('readiness: %s', (_name, roles, wrong, status, word, failed) => {
  const { status: code, body } = readiness(vitals(roles, wrong));
  const notOk = Object.entries(body.checks).filter(([, { ok }]) => !ok);
  expect([code, body.status, notOk.map(([name]) => name)]).toEqual([status, word, failed]);
  for (const [, { reason }] of notOk) expect(reason).toMatch(/\.$/);
});

test('a ready process without its database names it as degraded, and no other process does', () => {
  const degraded = (roles: Role[], wrong: Partial<typeof well>) => readiness(vitals(roles, wrong)).body.degraded;
  expect(degraded(['admin', 'ingest'], { database: false })).toEqual(['database']);
  expect(degraded(['deliver'], { database: false })).toEqual(['database']);
  expect(readiness(vitals(['ingest'])).body).not.toHaveProperty('degraded');
  expect(degraded(['admin'], { database: false })).toBeUndefined();
  expect(degraded(['ingest'], { database: false, log: false })).toBeUndefined();
  expect(degraded(['ingest'], { database: false, draining: true })).toBeUndefined();
});

describe('/metrics', () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });
  async function serve(access: { served: boolean; token: string | undefined }): Promise<string> {
    const handle = healthHandler(vitals(['ingest']), { read: async () => [], ...access });
    const server = createServer((req, res) => void (handle(req, res) || res.writeHead(404).end()));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`;
  }
  test.each([
    ['open without a token', { served: true, token: undefined }, undefined, 200],
    ['refused without the token', { served: true, token: 'abc' }, undefined, 401],
    ['refused with a wrong token', { served: true, token: 'abc' }, 'Bearer abcd', 401],
    ['served with the token', { served: true, token: 'abc' }, 'Bearer abc', 200],
    ['served with the token, however the scheme is spelled', { served: true, token: 'abc' }, 'bearer abc', 200],
    ['refused with the token under another scheme', { served: true, token: 'abc' }, 'Basic abc', 401],
    ['refused with the token alone', { served: true, token: 'abc' }, 'abc', 401],
    ['not on this listener', { served: false, token: undefined }, undefined, 404],
  ])('%s', async (_name, access, authorization, status) => {
    const answer = await fetch(await serve(access), authorization === undefined ? {} : { headers: { authorization } });
    expect(answer.status).toBe(status);
  });
});

test('the text of the metrics is that of prom-client, whatever the labels and kinds', async () => {
  const registry = new Registry();
  const registers = [registry];
  const gauge = new Gauge({ name: 'backlog', help: 'Two\nlines and a \\.', labelNames: ['id'], registers });
  for (let i = 0; i < 4_000; i++) gauge.set({ id: `int_${i}` }, i / 3);
  gauge.set({ id: 'a "quoted" \\ text\nwith a line' }, Number.POSITIVE_INFINITY);
  new Gauge({ name: 'plain', help: 'No label.', registers }).set(Number.NEGATIVE_INFINITY);
  new Counter({ name: 'events_total', help: 'Events.', labelNames: ['kind', 'reason'], registers }).inc({ kind: 'a', reason: 'b' }, 3);
  new Counter({ name: 'none_total', help: 'No value yet.', labelNames: ['kind'], registers });
  new Histogram({ name: 'duration_seconds', help: 'Durations.', labelNames: ['vendor'], registers }).observe({ vendor: 'webhook' }, 0.2);
  const durations = new DurationBuckets();
  durations.observe(0.2);
  registerHistogram(registry, { name: 'accept_seconds', help: 'Its own.', labelNames: [], read: () => [{ labels: {}, durations }] });
  const chunks: string[] = [];
  for await (const chunk of metricsText(await familiesOf(registry, (name) => expect.unreachable(name)))) chunks.push(chunk);
  expect(chunks.join('')).toBe(await registry.metrics());
  expect(chunks.length, 'a large text is not written at once (35 ms of the event loop with 10,000 integrations)').toBeGreaterThan(1);
});
