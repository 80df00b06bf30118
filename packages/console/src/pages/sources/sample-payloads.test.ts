import { findSource } from '@firsthand/catalog/sources/index.ts';
import type { WebhookProvider } from '@firsthand/core/config/resources.ts';
import { webhookSource } from '@firsthand/core/config/webhook-source.ts';
import { compileMapping } from '@firsthand/core/inbound/map-webhook.ts';
import type { Json } from '@firsthand/core/json.ts';
import { expect, test } from 'vitest';
import { SAMPLE_PAYLOADS } from './sample-payloads.ts';

const providers = Object.keys(SAMPLE_PAYLOADS) as WebhookProvider[];
test.each(providers.filter((provider) => provider !== 'custom'))('the sample of %s becomes an event with its own mapping', (provider) => {
  const definition = findSource(provider);
  const { body, type_header } = SAMPLE_PAYLOADS[provider];
  const { map } = compileMapping(definition, { ...webhookSource.defaults, source_type: definition.source_type });
  const header = /^\$headers\.(.+)$/.exec(definition.event_type_path ?? '')?.[1];
  const headers = header === undefined ? {} : { [header]: type_header ?? '' };
  expect(map({ body: body as Json, headers, query: {} }, Date.now())).toMatchObject({ ok: true, events: [{ type: 'track' }] });
});
