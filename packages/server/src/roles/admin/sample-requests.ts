/** Requests for sample events, built by the delivery code from a vendor's default variant and the placeholders of its fields. */
import { orderCompleted, pageViewed, productViewed } from '@firsthand/catalog/vendors/shared/sample-events.ts';
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { finish } from '@firsthand/core/steps.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { mergeConfig } from '@firsthand/core/vendor/merge.ts';
import { compileRehearsal, type Rehearsal } from '../../operations/rehearse.ts';

export interface SampleRequest {
  event: CanonicalEvent;
  requests: Rehearsal['requests'];
}
const EVENTS = [orderCompleted(), productViewed(), pageViewed()];

/** Empty for a vendor whose placeholders are not enough to compile it, such as one with its own private key. */
export function sampleRequests(vendor: VendorDefinition): SampleRequest[] {
  const variant = vendor.variants.find(({ key }) => key === 'default') ?? vendor.variants[0];
  const fields = Object.fromEntries(
    vendor.config_fields.filter(({ required }) => required).map((field) => [field.key, field.default ?? field.placeholder]),
  );
  const config = mergeConfig(variant?.default_config ?? {}, fields as JsonObject) as JsonObject;
  const compiled = compileRehearsal(vendor, config, {}, { mode: 'production', allow_private: false });
  if (!compiled.ok) return [];
  return EVENTS.flatMap((event) => {
    const { requests } = finish(compiled.rehearse(event, Date.parse(event.timestamp)));
    return requests.length === 0 ? [] : [{ event, requests }];
  });
}
