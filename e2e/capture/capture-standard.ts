/**
 * Sends the standard events, one after the other, through the whole service to every vendor, and keeps the requests of each event. An
 * event is captured when every vendor has its outcome, so that no request is attributed to another event.
 */
import { compileCase, requestsFor } from '@firsthand/catalog/vendors/shared/run-case.ts';
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import type { VendorRequest } from '@firsthand/core/vendor/compiled.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { type Client, send, signIn, until } from '../harness/client.ts';
import { type Received, startReceiver } from '../harness/receiver.ts';
import { type Service, startService } from '../harness/service.ts';
import { requestDifferences } from './difference.ts';
import { STANDARD_EVENTS } from './events.ts';
import { exampleConfig, install, isTokenRequest, TOKEN } from './install.ts';

export interface CapturedEvent {
  /** As the service processed it. */
  event: CanonicalEvent;
  status: string;
  reason: string | null;
  requests: Received[];
}
export interface CapturedVendor {
  vendor: VendorDefinition;
  config: JsonObject;
  /** By message id. */
  events: Record<string, CapturedEvent>;
}
interface Delivery {
  integration_id: string;
  status: string;
  reason: string | null;
}
const FINAL = new Set(['delivered', 'dropped', 'dead_lettered', 'accepted_by_vendor', 'not_routed']);

export async function captureStandardEvents(vendors: readonly VendorDefinition[]): Promise<CapturedVendor[]> {
  const receiver = await startReceiver();
  const service = await startService();
  try {
    receiver.answer((request) => ({
      body: JSON.stringify(isTokenRequest(request) ? TOKEN : vendorOf(vendors, request)?.chain ? {} : { code: 0, ok: true }),
    }));
    const client = await signIn(service);
    const pipeline = await client.post('/pipelines', { name: 'Capture', type: 'server' });
    const captured = new Map<string, CapturedVendor>();
    for (const vendor of vendors) {
      const config = exampleConfig(vendor, 'default', { ...rowPerEvent(vendor), endpoint: `${receiver.url}/${vendor.key}` });
      captured.set(await install(client, pipeline.id, vendor, 'default', config), { vendor, config, events: {} });
    }
    const { pipeline_key } = pipeline;
    for (const { messageId, ...message } of STANDARD_EVENTS) {
      const before = receiver.requests.length;
      const { event, deliveries } = await outcomeOf(service, client, pipeline_key, { messageId, ...message }, captured.size);
      const requests = receiver.requests.slice(before).filter((request) => !isTokenRequest(request));
      for (const { integration_id, status, reason } of deliveries) {
        const one = captured.get(integration_id);
        if (one === undefined) continue;
        const own = requests.filter((request) => vendorOf(vendors, request) === one.vendor);
        const inside = own.map((request) => ({ ...request, path: request.path.slice(one.vendor.key.length + 1) }));
        one.events[messageId] = { event, status, reason, requests: inside };
      }
    }
    return [...captured.values()];
  } finally {
    await service.stop();
    await receiver.close();
  }
}

function vendorOf(vendors: readonly VendorDefinition[], { path }: Received): VendorDefinition | undefined {
  const key = /^\/(\w+)/.exec(path)?.[1];
  return vendors.find((vendor) => vendor.key === key);
}

/** A table of events gets a row for every event. */
function rowPerEvent({ event_table: table, config_fields }: VendorDefinition): JsonObject {
  const field = table && config_fields.find(({ key }) => key === table.field);
  const id = field?.columns?.find(({ key }) => key === table?.vendor_event_name)?.placeholder;
  if (!table || id === undefined) return {};
  const names = new Set(STANDARD_EVENTS.flatMap(({ event }) => (typeof event === 'string' ? [event] : [])));
  return { [table.field]: [...names, '@page'].map((name) => ({ [table.event]: name, [table.vendor_event_name]: id })) };
}

async function outcomeOf(service: Service, client: Client, key: string, message: { messageId: string }, vendors: number) {
  await until(`${message.messageId} to be accepted`, async () => (await send(service, key, '/v1/events', message)).status < 300);
  return await until(`the outcome of ${message.messageId}`, async () => {
    const { body } = await client.call('GET', `/events/${message.messageId}`);
    const deliveries = (body.deliveries ?? []) as Delivery[];
    if (deliveries.length < vendors || deliveries.some(({ status }) => !FINAL.has(status))) return undefined;
    return { event: body.event as unknown as CanonicalEvent, deliveries };
  });
}

/** Compares each captured request with what the definition, which the cases verify, makes of the processed event. */
export function standardDifferences({ vendor, config, events }: CapturedVendor): { title: string; differences: string[] }[] {
  const compiled = compileCase(vendor, 'default', { ...config, endpoint: 'https://vendor.example' });
  return Object.entries(events).map(([messageId, { event, requests, reason, status }]) => {
    const { built, requests: expected } = requestsFor(compiled, event);
    const title = `${vendor.key}: standard event ${messageId}`;
    if (built.kind !== 'items')
      return { title, differences: reason === built.reason ? [] : [`outcome: expected ${built.reason}, received ${reason ?? status}`] };
    return { title, differences: requestDifferences(expected.map(asExpected), requests) };
  });
}

const decoder = new TextDecoder();
function asExpected({ method, url, headers, body }: VendorRequest) {
  const text = body instanceof Uint8Array ? decoder.decode(body) : body;
  return { method, url, headers, ...(text === undefined ? {} : { body: text }) };
}
