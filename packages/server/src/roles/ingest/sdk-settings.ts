/**
 * What browser SDKs load before they send anything: Segment's project settings and RudderStack's source configuration. Both
 * name no vendor of theirs, so that the SDK sends everything to us.
 */
import { mayUseHost } from '../../http/public-origin.ts';
import type { IngestRules } from '../../snapshot/ingest-rules.ts';
import { findSender } from './admission.ts';
import type { Exchange } from './exchange.ts';
import { keyOf } from './pipeline-key.ts';
import { keyInPath } from './routes.ts';

export function replySettings(exchange: Exchange): void {
  const { req, headers, query } = exchange;
  const inPath = keyInPath(req.url ?? '');
  const key = inPath ?? keyOf(headers, query) ?? '';
  const rules = findSender(exchange, key);
  if (rules === undefined) return;
  if (inPath === undefined) {
    const updatedAt = exchange.ctx.snapshots.current().pipelines.get(rules.pipelineId)?.pipeline.updated_at ?? '';
    replyJson(exchange, rudderStackConfig(key, rules, updatedAt), CACHED);
    return;
  }
  const { ingestUrl, ingestPort, baseUrl } = exchange.ctx.settings;
  const set = ingestUrl ?? (ingestPort === undefined ? baseUrl : undefined);
  const url = set === undefined ? reachedUrl(exchange) : new URL(set);
  if (url === undefined) exchange.reject({ code: 'not_found', message: UNKNOWN_ADDRESS });
  // A client may choose its host: a shared cache must not hand that to others.
  else replyJson(exchange, segmentSettings(key, url), set === undefined ? 'no-store' : CACHED);
}

const CACHED = 'public, max-age=60';
const UNKNOWN_ADDRESS = 'The public address is not known. Set INGEST_URL, or list this host in ALLOWED_HOSTS.';

function replyJson(exchange: Exchange, settings: object, caching: string): void {
  exchange.reply({ status: 200, body: JSON.stringify(settings), headers: ['Cache-Control', caching] });
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

/** The address that the client used; in production only an allowed one. */
function reachedUrl(exchange: Exchange): URL | undefined {
  const { proxies, settings } = exchange.ctx;
  const reached = { protocol: proxies.secure(exchange) ? 'https' : 'http', host: proxies.host(exchange) };
  if (!mayUseHost(settings, reached)) return undefined;
  const origin = `${reached.protocol}://${reached.host}`;
  return new URL(URL.canParse(origin) ? origin : 'http://localhost');
}
