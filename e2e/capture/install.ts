/** Installs vendors from the catalog with example values, so that a local server receives what they would. */
import { generateKeyPairSync } from 'node:crypto';
import { completeConfig } from '@firsthand/catalog/vendors/shared/run-case.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import type { Client } from '../harness/client.ts';

/** The placeholder of a private key signs nothing. */
const PRIVATE_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
export const TOKEN = { access_token: 'access-token', expires_in: 3600 };

export const isTokenRequest = ({ body }: { body: string }) => body.includes('grant_type');

export function exampleConfig(vendor: VendorDefinition, variant: string, over: JsonObject): JsonObject {
  return withPrivateKey(
    completeConfig(vendor, variant, {
      batch_interval_ms: 200,
      // The events are from January 2026.
      max_event_age_hours: 0,
      ...over,
    }),
  );
}

export function withPrivateKey(config: JsonObject): JsonObject {
  return 'private_key' in config ? { ...config, private_key: PRIVATE_KEY } : config;
}

/** Returns the id of the integration. */
export async function install(
  client: Client,
  pipelineId: string,
  vendor: VendorDefinition,
  variant: string,
  config: JsonObject,
): Promise<string> {
  const { template } = await client.post(`/integration-catalog/${vendor.key}/install`, { name: vendor.name, variant, config });
  const integration = await client.post(`/pipelines/${pipelineId}/integrations`, { template_id: String(template?.id) });
  return String(integration.id);
}
