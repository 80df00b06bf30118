import { loadVendor, loadVendors } from '@firsthand/catalog/index.ts';
import { completeConfig } from '@firsthand/catalog/vendors/shared/run-case.ts';
import { orderCompleted } from '@firsthand/catalog/vendors/shared/sample-events.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { expect, test } from 'vitest';
import { ApiError } from '../http/errors.ts';
import type { CompiledIntegration } from '../snapshot/types.ts';
import { inTestMode } from './trial-mode.ts';

const OPTIONS = { mode: 'production', allow_private: false } as const;
const requests = async (vendor: VendorDefinition, config: CompiledIntegration['config'], code?: string) => {
  const live = { config, secrets: [], faults: [], warnings: [] } as unknown as CompiledIntegration; // the rest is not read
  const { vendor: compiled } = await inTestMode(live, vendor, code, OPTIONS);
  const built = compiled?.build(orderCompleted(), { now: Date.UTC(2026, 0, 2, 4) });
  return built?.kind === 'items' ? built.items.map((item) => compiled?.request([item], { now: 0, attempt: 1, request_id: 'r' })) : built;
};
async function vendorOf(key: string): Promise<VendorDefinition> {
  const vendor = await loadVendor(key);
  if (!vendor) throw new Error(`There is no vendor ${key}.`);
  return vendor;
}

test('a switch: the event goes to the validating endpoint, whatever the stored config says', async () => {
  const snapchat = await vendorOf('snapchat');
  const config = completeConfig(snapchat, 'default', { parameters: { test_mode: false } });
  expect(JSON.stringify(await requests(snapchat, config))).toContain('/events/validate');
});

test('a code: the event carries it', async () => {
  const meta = await vendorOf('meta_conversions_api');
  expect(JSON.stringify(await requests(meta, completeConfig(meta), 'TEST123'))).toContain('TEST123');
  await expect(requests(meta, completeConfig(meta))).rejects.toThrow(ApiError);
});

test('a vendor without a test mode is refused', async () => {
  const webhook = await vendorOf('webhook');
  await expect(requests(webhook, completeConfig(webhook))).rejects.toThrow('has no test mode');
});

test('every test mode changes the request', async () => {
  for (const vendor of (await loadVendors()).filter(({ test_mode }) => test_mode)) {
    const config = completeConfig(vendor, 'default', { max_event_age_hours: 0 });
    const { field, value = 'code-1' } = vendor.test_mode ?? { field: '' };
    expect(config[field], vendor.key).not.toBe(value);
    expect(vendor.config_fields.find(({ key }) => key === field)?.default, vendor.key).not.toBe(value);
  }
});
