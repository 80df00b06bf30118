/**
 * Throughput of delivery alone, from a filled embedded log to a receiver on loopback in its own process: one event per request, 100 per
 * request, 1,000 idle integrations, and nine integrations beside one whose vendor never responds.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { createServer as createNetServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { anEvent, anIntegration, Bench, compiledWebhook, pause, until } from '@firsthand/server/roles/deliver/testing/bench.ts';
import type { BenchResult } from './result.ts';

const EVENTS = Number(process.env.BENCH_EVENTS ?? 40_000);

export async function run(): Promise<BenchResult[]> {
  const receiver = await startReceiver();
  try {
    return [
      ...(await throughput(receiver.url, 'one event a request', {})),
      ...(await throughput(receiver.url, '100 events a request', { batch_enabled: true, batch_size: 100, batch_interval_ms: 50 })),
      await idle(receiver.url),
      ...(await blackholed(receiver.url)),
    ];
  } finally {
    receiver.process.kill();
  }
}

async function throughput(url: string, name: string, config: Parameters<typeof compiledWebhook>[1]): Promise<BenchResult[]> {
  const bench = await Bench.open();
  try {
    for (let from = 0; from < EVENTS; from += 1_000) await bench.append(typicalEvents(Math.min(1_000, EVENTS - from), from));
    bench.snapshots.set([anIntegration(compiledWebhook(url, config))]);
    const began = performance.now();
    const cpu = process.cpuUsage();
    bench.start();
    await bench.settled('int_1', 'pl_1');
    const seconds = (performance.now() - began) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    return [
      { name: `delivery, ${name}`, value: Math.round(EVENTS / seconds), unit: 'events/s' },
      { name: `delivery, ${name}, processor time`, value: round((user + system) / EVENTS), unit: 'µs/event' },
    ];
  } finally {
    await bench.close();
  }
}

/** 1,000 integrations on 100 pipelines without events. */
async function idle(url: string): Promise<BenchResult> {
  const bench = await Bench.open();
  try {
    const vendor = compiledWebhook(url);
    bench.snapshots.set(
      Array.from({ length: 1_000 }, (_, i) => anIntegration(vendor, { id: `int_${i}`, pipeline_id: `pl_${Math.floor(i / 10)}` })),
    );
    bench.start();
    await pause(1_000);
    const began = performance.now();
    const cpu = process.cpuUsage();
    await pause(5_000);
    const { user, system } = process.cpuUsage(cpu);
    const share = (user + system) / 10 / (performance.now() - began);
    return { name: 'delivery, 1,000 idle integrations', value: round(share), unit: '% of a core', floor: 5, ok: share < 5 };
  } finally {
    await bench.close();
  }
}

/**
 * Latency of nine integrations from append to response, with and without a tenth whose vendor accepts connections and never responds. Both
 * set-ups run side by side and get events alternately, so other load on the machine affects both.
 */
async function blackholed(url: string): Promise<BenchResult[]> {
  const silent = createNetServer((socket) => void socket.on('error', () => undefined));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as { port: number };
  const nine = Array<string>(9).fill(url);
  const both = [await tenIntegrations([...nine, url]), await tenIntegrations([...nine, `http://127.0.0.1:${port}/`])];
  for (let i = 0; i < 1_000; i++) {
    // Alternates the order: the first is a little faster.
    for (const bench of i % 2 === 0 ? both : both.toReversed()) await bench.append(typicalEvents(1, i), 'pl_1', CLOCK.now());
    await pause(5);
  }
  const [without, beside] = await Promise.all(both.map(p99OfNine));
  await Promise.all(both.map((bench) => bench.deliver.stop(10).then(() => bench.close())));
  silent.close();
  const ratio = beside! / without!;
  return [
    { name: 'delivery, nine of ten, p99 without the blackholed one', value: round(without!), unit: 'ms' },
    { name: 'delivery, nine of ten, p99 beside the blackholed one', value: round(beside!), unit: 'ms' },
    { name: 'delivery, nine of ten, p99 ratio', value: round(ratio), unit: '×', floor: 1.2, ok: ratio <= 1.2 },
  ];
}
/** With fractions of a millisecond: the latency is about one millisecond. */
const CLOCK = { now: () => performance.timeOrigin + performance.now(), monotonic: () => performance.now() };

async function tenIntegrations(urls: string[]): Promise<Bench> {
  const bench = await Bench.open();
  bench.snapshots.set(urls.map((to, i) => anIntegration(compiledWebhook(to, { timeout_ms: 60_000 }), { id: `int_${i}` })));
  bench.start({ clock: CLOCK });
  return bench;
}
async function p99OfNine(bench: Bench): Promise<number> {
  for (let i = 0; i < 9; i++) await bench.settled(`int_${i}`);
  const times = (await bench.outcomes()).flatMap((outcome) =>
    outcome.kind === 'delivered' && outcome.integration_id !== 'int_9' ? [outcome.duration_ms] : [],
  );
  times.sort((a, b) => a - b);
  return times[Math.floor(times.length * 0.99)]!;
}

/** About 600 bytes, typical of a shop. */
function typicalEvents(count: number, from: number): CanonicalEvent[] {
  return Array.from({ length: count }, (_, i) =>
    anEvent(`0190a0b0-0000-7000-8000-${String(from + i).padStart(12, '0')}`, {
      anonymous_id: '5f0c8c1e-7b1e-4f0e-9a51-0d7f7d1f6f11',
      user_id: `user-${(from + i) % 1_000}`,
      context: {
        page: { url: 'https://shop.example/checkout/thanks', title: 'Thank you', referrer: 'https://shop.example/checkout' },
        ip: '203.0.113.7',
        user_agent: 'Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36',
        locale: 'en-GB',
      },
      properties: { order_id: `o-${from + i}`, total: 42.5, currency: 'EUR', products: [{ product_id: 'p1', price: 42.5, quantity: 1 }] },
    }),
  );
}

async function startReceiver(): Promise<{ process: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), 'receive'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let port = '';
  child.stdout!.on('data', (data: Buffer) => (port += data.toString()));
  await until(() => port.endsWith('\n'));
  return { process: child, url: `http://127.0.0.1:${port.trim()}/hook` };
}
function receive(): void {
  const server = createServer((request, response) => {
    request.on('end', () => response.end('{}'));
    request.resume();
  });
  server.listen(0, '127.0.0.1', () => console.log((server.address() as { port: number }).port));
}
function round(value: number): number {
  return Math.round(value * 100) / 100;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === 'receive') receive();
  else for (const result of await run()) console.log(result);
}
