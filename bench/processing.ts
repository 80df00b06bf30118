/**
 * Throughput of processing: the steps alone on one core, with and without detection of personal data in free text; the whole role on the
 * embedded log; user code in two workers; and the latency of other events beside runaway code.
 */

import { enableCompileCache } from 'node:module';
import type { DataLayerConfig } from '@firsthand/core/config/resources.ts';
import { transformation } from '@firsthand/core/config/transformation.ts';
import { canonicalise } from '@firsthand/core/event/canonicalise.ts';
import { decodeEnvelope, encodeEnvelope } from '@firsthand/core/event/envelope.ts';
import { compileOrganisation, compileProcessing } from '@firsthand/core/process/compiled.ts';
import { processEvent } from '@firsthand/core/process/process-event.ts';
import type { VisitorState } from '@firsthand/core/process/visitor.ts';
import { encodeEventRecord } from '@firsthand/server/event-record.ts';
import { Bench, ingestAppend, ORG, Snapshots } from '@firsthand/server/roles/process/testing/bench.ts';
import { createSandbox } from '@firsthand/server/sandbox/sandbox.ts';
import { runaway } from './processing/runaway.ts';
import { watchLog } from './processing/watch-log.ts';
import type { BenchResult } from './result.ts';

export async function run(): Promise<BenchResult[]> {
  return [
    ...steps(),
    await role(),
    ...(await code()),
    ...(await runaway('endless loop', 'for (;;);')),
    ...(await runaway('one step that is never over', '(1n << 1000000n).toString();')),
  ];
}

const USER_AGENTS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36',
];

/** About 0.9 KB, typical of a shop's browser events. */
function clientEvent(i: number) {
  return {
    type: 'track',
    event: 'Order Completed',
    messageId: `m-${i}`,
    anonymousId: `visitor-${i % 500}`,
    timestamp: '2026-03-01T10:00:00.000Z',
    properties: {
      order_id: `order-${i}`,
      total: 129.9,
      currency: 'EUR',
      coupon: 'SPRING',
      note: 'Please leave the parcel with the neighbour on the second floor, thank you',
      products: [
        { product_id: 'p-1', sku: 'sku-1', name: 'Running shoes', price: 89.9, quantity: 1, category: 'Shoes' },
        { product_id: 'p-2', sku: 'sku-2', name: 'Socks', price: 20, quantity: 2, category: 'Accessories' },
      ],
    },
    context: {
      page: {
        url: `https://shop.example/checkout/done?utm_source=newsletter&utm_medium=email&utm_campaign=spring&gclid=Cj0K${i}`,
        title: 'Thank you for your order',
        referrer: 'https://shop.example/checkout/payment',
      },
      locale: 'de-DE',
      timezone: 'Europe/Berlin',
      consent: { categories: { necessary: true, statistics: true, marketing: i % 2 === 0 } },
    },
  };
}

function records(count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, i) =>
    encodeEnvelope(
      {
        v: 1,
        org_id: ORG,
        pipeline_id: 'pl_1',
        event_id: `m-${i}`,
        received_at: 1_772_000_000_000 + i * 20,
        source: 'browser',
        anonymous_id: `visitor-${i % 500}`,
        ip: `203.0.113.${i % 250}`,
        user_agent: USER_AGENTS[i % USER_AGENTS.length]!,
      },
      Buffer.from(JSON.stringify(clientEvent(i))),
    ),
  );
}

function steps(): BenchResult[] {
  const stored = records(5_000);
  const plain = measureSteps(stored, {});
  const detecting = measureSteps(stored, {
    pii_rules: { ip: 'truncate', fields: [], detect: ['email', 'phone', 'card', 'iban'], detect_action: 'redact', url_params: ['email'] },
  });
  return [
    result('processing, seven steps, default data layer, from stored bytes to stored bytes, one core', plain.all, 'events/s', 20_000),
    result('processing, seven steps alone', plain.alone, 'events/s', 20_000),
    {
      name: 'processing, seven steps alone, with detection of personal data in free text',
      value: Math.round(detecting.alone),
      unit: 'events/s',
    },
  ];
}

/** The best of several rounds: other load on the machine can only slow a round down. */
function measureSteps(stored: readonly Uint8Array[], dataLayer: Partial<DataLayerConfig>): { all: number; alone: number } {
  const { organisation } = compileOrganisation(dataLayer, ORG);
  const { processing } = compileProcessing({ transformations: [], parameters: {} });
  const deps = { runCode: () => Promise.reject(new Error('no code here')) };
  let all = 0;
  let alone = 0;
  for (let round = 0; round < 8; round++) {
    const visitors = new Map<string, VisitorState>();
    const started = performance.now();
    let inSteps = 0;
    let bytes = 0;
    for (const data of stored) {
      const { envelope, body } = decodeEnvelope(data);
      const event = canonicalise(envelope, body);
      const id = envelope.anonymous_id!;
      const before = performance.now();
      const processed = processEvent(
        {
          event,
          request: envelope,
          org_id: ORG,
          pipeline_id: 'pl_1',
          received_at: envelope.received_at,
          organisation,
          processing,
          visitor: { id, state: visitors.get(id) ?? {} },
        },
        deps,
      );
      inSteps += performance.now() - before;
      if (processed instanceof Promise || processed.kind !== 'processed') throw new Error('the benchmark event was not processed');
      visitors.set(id, processed.visitor!);
      bytes += encodeEventRecord({ received_at: 0, org_id: ORG, pipeline_id: 'pl_1' }, processed.event).length;
      bytes += JSON.stringify(processed.decisions).length;
    }
    if (bytes === 0) throw new Error('nothing was stored');
    all = Math.max(all, (stored.length / (performance.now() - started)) * 1_000);
    alone = Math.max(alone, (stored.length / inSteps) * 1_000);
  }
  return { all, alone };
}

/** From the ingest log to the event log, including outcomes and visitors. */
export async function role(): Promise<BenchResult> {
  const count = 40_000;
  const bench = await Bench.open(new Snapshots({}, [{ id: 'pl_1' }]));
  try {
    for (let from = 0; from < count; from += 1_000)
      await bench.log.append(Array.from({ length: 1_000 }, (_, i) => ingestAppend(`m-${from + i}`, clientEvent(from + i))));
    let stored = 0;
    const log = watchLog(bench.log, (topic, written) => {
      if (topic === 'events.pl_1') stored += written.length;
    });
    const started = performance.now();
    bench.start({ log });
    while (stored < count) await new Promise((resolve) => setTimeout(resolve, 10));
    return result('processing role on the embedded log, durable', (count / (performance.now() - started)) * 1_000, 'events/s');
  } finally {
    await bench.close();
  }
}

const TRANSFORM = `function transform(event, { parameters }) {
  if (event.properties.total > 100) event.properties.tier = parameters.TIER;
  event.properties.items = event.properties.products.length;
  delete event.properties.note;
  return event;
}`;

async function code(): Promise<BenchResult[]> {
  const { organisation } = compileOrganisation({}, ORG);
  const { processing } = compileProcessing({
    transformations: [transformation.sample({ kind: 'code', code: TRANSFORM })],
    parameters: { TIER: 'gold' },
  });
  const sandbox = createSandbox({ workers: 2 });
  const stored = records(500);
  let next = 0;
  const one = async () => {
    const { envelope, body } = decodeEnvelope(stored[next++ % stored.length]!);
    const processed = await processEvent(
      {
        event: canonicalise(envelope, body),
        request: envelope,
        org_id: ORG,
        pipeline_id: 'pl_1',
        received_at: envelope.received_at,
        organisation,
        processing,
        visitor: { id: envelope.anonymous_id!, state: {} },
      },
      { runCode: sandbox.run },
    );
    if (processed.kind !== 'processed' || processed.event.properties!.tier !== 'gold')
      throw new Error(`the code did not run: ${JSON.stringify(processed).slice(0, 500)}`);
  };
  try {
    await inParallel(256, 2_000, one);
    const rates: number[] = [];
    for (let round = 0; round < 3; round++) {
      const started = performance.now();
      await inParallel(256, 6_000, one);
      rates.push((6_000 / (performance.now() - started)) * 1_000);
    }
    return [result('processing with one code transformation, two workers', Math.max(...rates), 'events/s', 4_000)];
  } finally {
    await sandbox.stop();
  }
}

async function inParallel(width: number, count: number, one: () => Promise<void>): Promise<void> {
  let left = count;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (left-- > 0) await one();
    }),
  );
}

function result(name: string, value: number, unit: string, floor?: number): BenchResult {
  return { name, value: Math.round(value), unit, ...(floor !== undefined && { floor, ok: value >= floor }) };
}

if (import.meta.main) {
  // The start command does this too: threads start faster.
  enableCompileCache();
  console.table(await run());
}
