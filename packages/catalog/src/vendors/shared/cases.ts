/** Cases of a vendor: event in, exact requests out. The suite runs them, and the console shows them as samples. */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import type { Verdict } from '@firsthand/core/vendor/compiled.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import type { TransportRecord } from '@firsthand/core/vendor/transport.ts';

export interface ExpectedRequest {
  method?: string;
  url?: string;
  /** Those that matter; others may be there. */
  headers?: Record<string, string>;
  /** JSON bodies as values, others as text. */
  body?: unknown;
}
export interface VendorCase {
  name: string;
  /** `default` where absent. */
  variant?: string;
  /** Laid over the variant and the placeholders of required fields. */
  config?: JsonObject;
  event: CanonicalEvent;
  requests?: ExpectedRequest[];
  /** Chains: what the vendor answers to each request, in order; 200 with an empty object where it ends. */
  replies?: { status: number; body?: unknown }[];
  /** Drivers: what is written where. */
  records?: TransportRecord[];
  /** Reason word of a dropped event. */
  dropped?: string;
  /** Beginning of the reason of a failed one. */
  failed?: string;
}
export interface AnswerCase {
  name: string;
  variant?: string;
  config?: JsonObject;
  /** The first items of these events, in one request. */
  events: CanonicalEvent[];
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
