/** Sets up the demo shop through the management API: pipeline, consent, a code transformation, a webhook source, six integrations. */
import type { AdminClient } from './admin-client.ts';

export const SHOPIFY_SECRET = 'demo-shopify-signing-secret';
export interface Shop {
  pipeline_id: string;
  pipeline_key: string;
  webhook_url: string;
}

const NET_VALUE = `// The prices of the shop include tax; some vendors want the net value.
function transform(event) {
  const total = event.properties && event.properties.total;
  if (typeof total === 'number') event.properties.net_value = Math.round((total / 1.19) * 100) / 100;
  return event;
}
`;
const NEEDS_TOTAL = {
  type: 'object',
  required: ['order_id', 'total'],
  properties: { order_id: { type: 'string' }, total: { type: 'number', minimum: 0 }, currency: { type: 'string', pattern: '^[A-Z]{3}$' } },
};

const INTEGRATIONS = (receiver: string) => [
  {
    vendor: 'google_analytics_4',
    name: 'Google Analytics 4',
    consent_category: 'analytics',
    config: { measurement_id: 'G-DEMO123456', api_secret: 'aB3dE5fG7hI9jK1lM3nO5p', endpoint: `${receiver}/ga4` },
  },
  {
    vendor: 'meta_conversions_api',
    name: 'Meta Conversions API',
    consent_category: 'marketing',
    config: { pixel_id: '1234567890123456', access_token: 'EAABsbCS1iHgBAdemotoken', endpoint: `${receiver}/meta` },
  },
  {
    vendor: 'tiktok_events_api',
    name: 'TikTok',
    consent_category: 'marketing',
    config: { pixel_code: 'C4ABCDEFGHIJKLMNOPQ0', access_token: '4ed4cd2fdemotoken0123456789abcdef', endpoint: `${receiver}/tiktok` },
  },
  {
    vendor: 'amplitude',
    name: 'Amplitude',
    consent_category: 'analytics',
    config: { api_key: '0123456789abcdef0123456789abcdef', endpoint: `${receiver}/amplitude` },
  },
  {
    vendor: 'braze',
    name: 'Braze',
    consent_category: 'marketing',
    event_filter: { event_names: ['Order Completed', 'Product Added', 'Signed Up', '@identify'] },
    config: { rest_endpoint: 'rest.iad-01.braze.com', api_key: '01234567-89ab-cdef-0123-456789abcdef', endpoint: `${receiver}/braze` },
  },
  {
    vendor: 'webhook',
    name: 'Warehouse',
    config: { url: `${receiver}/warehouse`, batch_enabled: true, batch_size: 20, batch_interval_ms: 2_000, timeout_ms: 10_000 },
  },
];

export async function openShop(admin: AdminClient, receiver: string): Promise<Shop> {
  const { pipelines } = await admin.get<{ pipelines: { id: string; name: string; pipeline_key: string }[] }>(
    '/pipelines?search=Demo%20shop',
  );
  const known = pipelines.find(({ name }) => name === 'Demo shop');
  if (known !== undefined) return reopenShop(admin, known, receiver);

  const pipeline = await admin.post<{ id: string; pipeline_key: string }>('/pipelines', {
    name: 'Demo shop',
    type: 'web',
    labels: ['env:demo', 'country:de'],
    js_builder_config: { consent_config: { provider: 'auto' } },
  });
  await admin.put('/data-layer', {
    config: {
      consent: {
        mapping: { necessary: 'essential', statistics: 'analytics', marketing: 'marketing' },
        default: { analytics: false, marketing: false },
        honour_gpc: true,
      },
      bot_filtering: { action: 'drop' },
      pii_rules: { ip: 'truncate', fields: [], url_params: ['token', 'email'] },
      identity: { remember_traits: ['email'] },
    },
  });
  await admin.post(`/pipelines/${pipeline.id}/transformations`, { name: 'Net value', kind: 'code', code: NET_VALUE, enabled: true });
  await admin.put(`/pipelines/${pipeline.id}/tracking-plan`, { events: { 'Order Completed': NEEDS_TOTAL }, on_violation: 'flag' });
  for (const integration of INTEGRATIONS(receiver))
    await admin.post('/integrations', { source_id: pipeline.id, enabled: true, ...integration });
  const source = await admin.post<{ url: string }>('/webhook-sources', {
    pipeline_id: pipeline.id,
    name: 'Shopify',
    source_type: 'ecommerce_platform',
    signing_secret: SHOPIFY_SECRET,
  });
  await admin.post(`/pipelines/${pipeline.id}/collector/build`, {});
  return { pipeline_id: pipeline.id, pipeline_key: pipeline.pipeline_key, webhook_url: source.url };
}

/** The receiver gets a new port at every start, so each integration gets a revision that points to it. */
async function reopenShop(admin: AdminClient, { id, pipeline_key }: { id: string; pipeline_key: string }, receiver: string): Promise<Shop> {
  const { integrations } = await admin.get<{ integrations: { id: string; template_id: string; name: string; revision_number: number }[] }>(
    `/pipelines/${id}/integrations`,
  );
  for (const { name, config } of INTEGRATIONS(receiver)) {
    const integration = integrations.find((one) => one.name === name);
    if (integration === undefined) continue;
    const revision = await admin.get<{ config: Record<string, unknown> }>(
      `/integration-templates/${integration.template_id}/revisions/${integration.revision_number}`,
    );
    const moved = await admin.post<{ revision_number: number }>(`/integration-templates/${integration.template_id}/revisions`, {
      config: { ...revision.config, ...config },
      change_summary: 'Point at the demo receiver of this run',
    });
    await admin.put(`/pipelines/${id}/integrations/${integration.id}`, { revision_number: moved.revision_number });
  }
  const { webhook_sources } = await admin.get<{ webhook_sources: { pipeline_id: string; url: string }[] }>('/webhook-sources');
  return { pipeline_id: id, pipeline_key, webhook_url: webhook_sources.find((source) => source.pipeline_id === id)?.url ?? '' };
}
