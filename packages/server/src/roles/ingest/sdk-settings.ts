/**
 * What browser SDKs load before they send anything: Segment's project settings and RudderStack's source configuration. Both
 * name no vendor of theirs, so that the SDK sends everything to us.
 */
import type { IngestRules } from '../../snapshot/ingest-rules.ts';
import { findSender } from './admission.ts';
import type { Exchange } from './exchange.ts';
import { keyOf } from './pipeline-key.ts';
import { keyInPath } from './routes.ts';

export function replySettings(exchange: Exchange): void {
  const { req, query } = exchange;
  const inPath = keyInPath(req.url ?? '');
  const key = inPath ?? keyOf(req, query) ?? '';
  const rules = findSender(exchange, key);
  if (rules === undefined) return;
  const updatedAt = exchange.ctx.snapshots.current().pipelines.get(rules.pipelineId)?.pipeline.updated_at ?? '';
  const settings = inPath === undefined ? rudderStackConfig(key, rules, updatedAt) : segmentSettings(key, publicUrl(exchange));
  exchange.reply({ status: 200, body: JSON.stringify(settings), headers: ['Cache-Control', 'public, max-age=60'] });
}

function segmentSettings(key: string, url: URL) {
  const path = url.pathname === '/' ? '' : url.pathname;
  const segment = { apiKey: key, apiHost: `${url.host}${path}/v1`, protocol: url.protocol.slice(0, -1), addBundledMetadata: false };
  return {
    integrations: { 'Segment.io': segment },
    plan: { track: { __default: { enabled: true, integrations: {} } }, identify: { __default: { enabled: true } } },
    edgeFunction: {},
    analyticsNextEnabled: true,
    middlewareSettings: {},
    enabledMiddleware: {},
    // The SDK's own metrics would go to its vendor.
    metrics: { sampleRate: 0 },
    remotePlugins: [],
  };
}

/** The mobile SDKs reject a configuration without `updatedAt`. */
function rudderStackConfig(key: string, { pipelineId, orgId }: IngestRules, updatedAt: string) {
  return {
    source: {
      id: pipelineId,
      name: pipelineId,
      writeKey: key,
      workspaceId: orgId,
      enabled: true,
      updatedAt,
      // The SDK's own errors and metrics would go to its vendor.
      config: { statsCollection: { errors: { enabled: false }, metrics: { enabled: false } } },
      destinations: [],
      connections: [],
    },
  };
}

/** `INGEST_URL`, else the address that the client used. */
function publicUrl({ ctx, req }: Exchange): URL {
  const host = ctx.proxies.host(req);
  const seen = `${ctx.proxies.secure(req) ? 'https' : 'http'}://${host}`;
  return new URL(ctx.settings.ingestUrl ?? (URL.canParse(seen) ? seen : 'http://localhost'));
}
