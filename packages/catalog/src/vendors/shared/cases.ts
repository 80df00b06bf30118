/** Cases of a vendor: event in, exact requests out. The suite runs them, and the console shows the first ones as samples. */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import type { DropReason } from '@firsthand/core/outcome/outcome.ts';
import { compileGetter } from '@firsthand/core/path/path.ts';
import type { Verdict } from '@firsthand/core/vendor/compiled.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import type { TransportRecord } from '@firsthand/core/vendor/transport.ts';
import { everything, track } from './sample-events.ts';

export interface ExpectedRequest {
  method?: string;
  url?: string;
  /** Only those that matter. */
  headers?: Record<string, string>;
  /** JSON bodies as values, others as text. */
  body?: unknown;
  /** Instead of the whole body: paths in a JSON body, or names of query parameters, and their values. */
  contains?: Record<string, unknown>;
}
export interface VendorCase {
  name: string;
  /** Default: `default`. */
  variant?: string;
  /** Merged over the variant and the placeholders of required fields. */
  config?: JsonObject;
  event: CanonicalEvent;
  /** Further events, which are sent in the same batch. */
  batched?: CanonicalEvent[];
  /** When the event is delivered; a minute after the sample events by default. */
  now?: string;
  requests?: ExpectedRequest[];
  /** Chains: the vendor's answer to each request, in order; afterwards 200 with an empty object. */
  replies?: { status: number; headers?: Record<string, string>; body?: unknown }[];
  /** Chains: the verdict of the last answer. */
  verdict?: AnswerCase['verdict'];
  /** Drivers: the expected records. */
  records?: Pick<TransportRecord, 'event_id' | 'target' | 'values'>[];
  dropped?: DropReason;
  /** Start of the reason of an event that could not be mapped. */
  failed?: string;
}
export interface AnswerCase {
  name: string;
  variant?: string;
  config?: JsonObject;
  /** The reply to a poll for the job's result, instead of the reply to the request. */
  poll?: true;
  /** One item of each of these events, in one request. */
  events: CanonicalEvent[];
  /** Which item of an event that becomes several; 0 by default. */
  item?: number;
  reply: { status: number; headers?: Record<string, string>; body?: unknown };
  verdict: Verdict | { kind: Verdict['kind'] };
}
export interface VendorCases {
  vendor: VendorDefinition;
  cases: VendorCase[];
  answers: AnswerCase[];
}

export function vendorCases(vendor: VendorDefinition, cases: VendorCase[], answers: AnswerCase[] = []): VendorCases {
  return { vendor, cases, answers };
}

/** One case per row of events and the vendor's names: `[event, name, variant]`. */
export function named(
  rows: readonly (readonly [event: string, name: string, variant?: string])[],
  make: (event: string, name: string) => Omit<VendorCase, 'name' | 'variant'>,
): VendorCase[] {
  return rows.map(([event, name, variant = 'default']) => ({ name: `${event} is ${name}`, variant, ...make(event, name) }));
}

/** One case per event and the vendor's name for it, which is found at `path` in the request. */
export function sentAs(
  path: string,
  names: Record<string, string>,
  make: (event: string) => CanonicalEvent = everything,
  rest: Pick<VendorCase, 'variant' | 'config'> = {},
): VendorCase[] {
  return Object.entries(names).map(([event, name]) => ({
    name: `${event} is ${name}`,
    ...rest,
    event: make(event),
    requests: [{ contains: { [path]: name } }],
  }));
}

/** One case per required field, with an event that lacks it. */
export function lacking(events: Record<string, CanonicalEvent>, rest: Pick<VendorCase, 'variant' | 'config'> = {}): VendorCase[] {
  return Object.entries(events).map(([field, event]) => ({
    name: `${event.event ?? event.original_type ?? event.type} without ${field}`,
    ...rest,
    event,
    dropped: `missing_required:${field}`,
  }));
}

/** A sale that lacks its id, its amount or its currency is dropped. `fields` are the vendor's names of the three. */
export function incompleteSales(context: JsonObject, fields: { order_id: string; amount: string; currency: string }): VendorCase[] {
  const whole = { order_id: 'o-1', total: 1, currency: 'EUR' };
  const without = (key: keyof typeof whole): JsonObject => Object.fromEntries(Object.entries(whole).filter(([name]) => name !== key));
  const sale = (key: keyof typeof whole, field: string): VendorCase => ({
    name: `a sale without ${field}`,
    event: track('Order Completed', without(key), { context }),
    dropped: `missing_required:${field}`,
  });
  return [sale('order_id', fields.order_id), sale('total', fields.amount), sale('currency', fields.currency)];
}

/** The values that `contains` names, as they are in a request. */
export function containedIn(
  { url, body }: { url: string; body?: string | undefined },
  contains: Record<string, unknown>,
): Record<string, unknown> {
  const query = new URL(url, 'https://vendor.example').searchParams;
  const json: unknown = body?.startsWith('{') || body?.startsWith('[') ? JSON.parse(body) : undefined;
  const found = Object.keys(contains).map((path) => {
    const getter = compileGetter(path);
    return [path, json === undefined ? (query.get(path) ?? undefined) : getter.ok ? getter.get(json) : undefined] as const;
  });
  return Object.fromEntries(found);
}

/** Answers that every HTTP vendor gives when it cannot take the events now. */
export function temporaryAnswers(event: CanonicalEvent): AnswerCase[] {
  const unavailable = { kind: 'unavailable' } as const;
  return [
    {
      name: 'throttled',
      events: [event],
      reply: { status: 429, headers: { 'retry-after': '7' } },
      verdict: { ...unavailable, reason: 'http_429', retry_after_ms: 7_000 },
    },
    { name: 'down', events: [event], reply: { status: 503, body: 'Service Unavailable' }, verdict: unavailable },
    { name: 'timed out', events: [event], reply: { status: 408 }, verdict: unavailable },
  ];
}
/** A bad event among several: each is sent alone. */
export const ISOLATED = { kind: 'unavailable', isolate: true } as AnswerCase['verdict'];
