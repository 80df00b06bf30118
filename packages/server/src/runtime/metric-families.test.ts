import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { addUp, familiesOf } from './metric-families.ts';

function measured(values: { events: Record<string, number>; stall: number; durations: number[] }): Registry {
  const registry = new Registry();
  const registers = [registry];
  const events = new Counter({ name: 'events_total', help: 'Events.', labelNames: ['kind'], registers });
  for (const [kind, n] of Object.entries(values.events)) events.inc({ kind }, n);
  new Gauge({ name: 'stall_seconds', help: 'Longest.', registers }).set(values.stall);
  const durations = new Histogram({ name: 'duration_seconds', help: 'Durations.', buckets: [1, 10], registers });
  for (const seconds of values.durations) durations.observe(seconds);
  return registry;
}

const unexpected = (name: string) => expect.unreachable(name);

test('a metric that cannot be read is left out and told; the others stay (/metrics was 503 while NATS was away)', async () => {
  const registry = measured({ events: { accepted: 3 }, stall: 0, durations: [] });
  new Gauge({
    name: 'backlog',
    help: 'Waiting.',
    registers: [registry],
    collect: () => Promise.reject(new Error('no answer')),
  });
  new Counter({ name: 'later_total', help: 'Behind it.', registers: [registry] });
  const told: unknown[] = [];
  const families = await familiesOf(registry, (name, error) => told.push([name, (error as Error).message]));
  expect(families.map(({ name }) => name)).toEqual(['events_total', 'stall_seconds', 'duration_seconds', 'later_total']);
  expect(told).toEqual([['backlog', 'no answer']]);
});

test('the counts of two threads are added, of gauges the higher one is shown, and what one of them has stays', async () => {
  const ours = measured({ events: { accepted: 3 }, stall: 0.5, durations: [0.1, 5] });
  const others = measured({ events: { accepted: 1, delivered: 2 }, stall: 0.2, durations: [20] });
  new Gauge({ name: 'backlog', help: 'Waiting.', registers: [others] }).set(7);

  const families = addUp(await familiesOf(ours, unexpected), await familiesOf(others, unexpected));
  const shown = families.map(({ name, values }) => [
    name,
    Object.fromEntries(
      values.map(({ metricName = '', labels, value }) => [[metricName, ...Object.values(labels)].join(' ').trim(), value]),
    ),
  ]);
  expect(Object.fromEntries(shown)).toEqual({
    events_total: { accepted: 4, delivered: 2 },
    stall_seconds: { '': 0.5 },
    duration_seconds: {
      'duration_seconds_bucket 1': 1,
      'duration_seconds_bucket 10': 2,
      'duration_seconds_bucket +Inf': 3,
      duration_seconds_sum: 25.1,
      duration_seconds_count: 3,
    },
    backlog: { '': 7 },
  });
});
