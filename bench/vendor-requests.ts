/** Events per second that become finished requests (mapping, hashing, body), for each event vendor, on one core. */
import { loadVendor } from '@firsthand/catalog/index.ts';
import { compileCase } from '@firsthand/catalog/vendors/shared/run-case.ts';
import { orderCompleted, PRODUCTS } from '@firsthand/catalog/vendors/shared/sample-events.ts';
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { CompiledVendor, VendorItem } from '@firsthand/core/vendor/compiled.ts';
import '@firsthand/server/runtime/native-bytes.ts';
import type { BenchResult } from './result.ts';

/** The first six are compared with older versions: add to the list, do not change them. */
const EVENT_VENDORS = ['google_analytics_4', 'meta_conversions_api', 'tiktok_events_api', 'google_ads', 'amplitude', 'braze'];
/** With these they are the ten most used. Those without a retail variant send the event as it is. */
const MORE_VENDORS = ['webhook', 'klaviyo', 'mixpanel', 'segment'];
const WARM_UP_MS = 400;
const MEASURE_MS = 1_500;
/** Different people and orders, so that caches of a single value do not help. */
const VISITORS = 5_000;

function purchases(): CanonicalEvent[] {
  const [first, second] = PRODUCTS;
  const products = [first!, second!, first!, second!, first!].map((product, index) => ({ ...product, product_id: `p-${index}` }));
  return Array.from({ length: VISITORS }, (_, index) =>
    orderCompleted(
      { order_id: `o-${index}`, products },
      {
        event_id: `evt-${index}`,
        user_id: `user-${index}`,
        traits: {
          email: `Visitor.${index}@Example.com`,
          phone: `+4915123${String(10_000 + index)}`,
          first_name: 'Anna',
          last_name: `Berg${index}`,
        },
      },
    ),
  );
}

/** Requests are as large as the vendor allows, as under load. */
function work(vendor: CompiledVendor, events: CanonicalEvent[], forMs: number): number {
  const most = vendor.batch?.max_items ?? 1;
  const context = { now: Date.UTC(2026, 0, 2), attempt: 1, request_id: 'bench', access_token: 'token' };
  const lanes = new Map<string, VendorItem[]>();
  let done = 0;
  // CPU time, not elapsed time: it barely changes on a busy machine.
  const start = process.threadCpuUsage();
  const spentMs = () => {
    const { user, system } = process.threadCpuUsage(start);
    return (user + system) / 1000;
  };
  while (spentMs() < forMs) {
    for (let i = 0; i < 100; i++) {
      const built = vendor.build(events[done % events.length]!, context);
      if (built.kind !== 'items') throw new Error(`${built.kind}: ${built.reason}`);
      for (const item of built.items) {
        const lane = lanes.get(item.lane) ?? [];
        if (lane.push(item) >= most) {
          vendor.request(lane, context);
          lanes.delete(item.lane);
        } else lanes.set(item.lane, lane);
      }
      done++;
    }
  }
  for (const lane of lanes.values()) vendor.request(lane, context);
  return done / (spentMs() / 1000);
}

export async function run(): Promise<BenchResult[]> {
  const events = purchases();
  const results: BenchResult[] = [];
  for (const key of [...EVENT_VENDORS, ...MORE_VENDORS]) {
    const definition = await loadVendor(key);
    if (!definition) throw new Error(`There is no vendor ${key}.`);
    const vendor = compileCase(definition, definition.variants.some((variant) => variant.key === 'retail') ? 'retail' : 'default', {
      max_event_age_hours: 0,
    });
    work(vendor, events, WARM_UP_MS);
    results.push({
      name: `request of an order with five products, ${key}`,
      value: Math.round(work(vendor, events, MEASURE_MS)),
      unit: 'events/s of processor time',
    });
  }
  return results;
}

if (import.meta.main) for (const { name, value, unit } of await run()) console.log(`${name}: ${value} ${unit}`);
