/** The peers' browser packages, each with its smallest useful program: load, set the server, send a page view. */
import { fileURLToPath } from 'node:url';

export const PEERS: Record<string, string> = {
  '@segment/analytics-next': `import { AnalyticsBrowser } from '@segment/analytics-next'; AnalyticsBrowser.load({ writeKey: 'k' }).page();`,
  '@rudderstack/analytics-js': `import { RudderAnalytics } from '@rudderstack/analytics-js'; const r = new RudderAnalytics(); r.load('k', 'https://x.example'); r.page();`,
  '@jitsu/js': `import { jitsuAnalytics } from '@jitsu/js'; jitsuAnalytics({ host: 'https://x.example', writeKey: 'k' }).page();`,
  '@snowplow/browser-tracker': `import { newTracker, trackPageView } from '@snowplow/browser-tracker'; newTracker('sp', 'https://x.example', { appId: 'a' }); trackPageView();`,
};

/**
 * The same programs, sending to a local server. Segment and RudderStack would first request settings from their service, and RudderStack
 * would load plugins from another host. Here the settings are passed in and the plugins are bundled, so both send fewer requests.
 */
export const runnablePeers = (server: string): Record<string, string> => ({
  '@segment/analytics-next': `import { AnalyticsBrowser } from '@segment/analytics-next';
    AnalyticsBrowser.load({ writeKey: 'k', cdnSettings: { integrations: { 'Segment.io': { apiKey: 'k', apiHost: '${server.replace('http://', '')}/v1', protocol: 'http' } } } }).page();`,
  '@rudderstack/analytics-js': `import { RudderAnalytics } from '@rudderstack/analytics-js/bundled'; const r = new RudderAnalytics();
    r.load('kkkkkkkkkkkkkkkkkkkkkkkkkkk', '${server}', { getSourceConfig: () => ({ source: { id: 's', name: 'n', writeKey: 'k', enabled: true, connections: [], destinations: [], config: { statsCollection: { errors: { enabled: false }, metrics: { enabled: false } } }, workspaceId: 'w' } }) });
    r.page();`,
  '@jitsu/js': `import { jitsuAnalytics } from '@jitsu/js'; jitsuAnalytics({ host: '${server}', writeKey: 'k:s' }).page();`,
  '@snowplow/browser-tracker': `import { newTracker, trackPageView } from '@snowplow/browser-tracker'; newTracker('sp', '${server}', { appId: 'a' }); trackPageView();`,
});

/** Bundled like the collector. */
export async function bundlePeers(programs: Record<string, string>): Promise<Map<string, string>> {
  const { build, stop } = await import('esbuild');
  const out = new Map<string, string>();
  try {
    for (const [name, contents] of Object.entries(programs)) {
      const result = await build({
        stdin: { contents, resolveDir: fileURLToPath(new URL('..', import.meta.url)) },
        bundle: true,
        minify: true,
        format: 'iife',
        platform: 'browser',
        target: ['es2020'],
        legalComments: 'none',
        write: false,
        logLevel: 'silent',
        define: { 'process.env.NODE_ENV': '"production"', global: 'globalThis' },
      });
      out.set(name, result.outputFiles[0]!.text);
    }
  } finally {
    await stop();
  }
  return out;
}
