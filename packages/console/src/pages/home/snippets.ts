/** How to send a first event, with the real address and key. */
export interface Snippet {
  key: string;
  label: string;
  /** Undefined while there is nothing to copy yet. */
  text: string | undefined;
  note?: string;
}

const CONSENT = '{ analytics: true, marketing: true, advertising: true }';
const CONSENT_NOTE = 'For the test: everything is allowed. On your site this is what the visitor chose.';
const ORDER = "{ order_id: 'A-1', total: 42, currency: 'EUR' }";

export interface SnippetsOf {
  /** Where events are sent: not the console's own address where the installation has another for collection. */
  ingestUrl: string;
  key: string;
  /** The script tag of the pipeline's collector, once it is built. */
  tag: string | undefined;
  /** Under which name the script is found in the page. */
  globalVariable: string;
}
export function snippets({ ingestUrl: origin, key, tag, globalVariable }: SnippetsOf): Snippet[] {
  const global = `window.${globalVariable}`;
  return [
    {
      key: 'html',
      label: 'Website',
      text:
        tag === undefined
          ? undefined
          : `${tag}\n<script>\n  ${global} = ${global} || [];\n  // ${CONSENT_NOTE}\n  ${global}.push(['consent', ${CONSENT}]);\n  ${global}.push(['track', 'Order Completed', ${ORDER}]);\n</script>`,
      note: 'The tag goes before the end of the page’s head. Page views are sent without further code. Vendors with a consent category get only events with that consent. The pipeline’s tab Collector connects your consent tool.',
    },
    {
      key: 'npm',
      label: 'npm',
      text: `import { init } from '@firsthand/collector';\n\nconst collector = init({ pipelineKey: '${key}', ingestUrl: '${origin}' });\n// ${CONSENT_NOTE}\ncollector.consent(${CONSENT});\ncollector.track('Order Completed', ${ORDER});`,
      note: 'For applications with a bundler. Build the package with: node packages/collector/npm/build.ts',
    },
    {
      key: 'curl',
      label: 'curl',
      text: `curl ${origin}/v1/t \\\n  -H 'authorization: Bearer ${key}' \\\n  -H 'content-type: application/json' \\\n  -d '{"type": "track", "event": "Order Completed", "properties": {"order_id": "A-1", "total": 42, "currency": "EUR"},\n       "context": {"consent": {"categories": {"analytics": true, "marketing": true, "advertising": true}}}}'`,
    },
    {
      key: 'node',
      label: 'Node',
      text: `// npm install @segment/analytics-node\nimport { Analytics } from '@segment/analytics-node';\n\nconst analytics = new Analytics({ writeKey: '${key}', host: '${origin}' });\nanalytics.track({ userId: 'u_1', event: 'Order Completed', properties: ${ORDER}, context: { consent: { categories: ${CONSENT} } } });\nawait analytics.closeAndFlush();`,
      note: 'Segment’s libraries work by changing their host and key. Vendors with a consent category get only events that carry the visitor’s consent.',
    },
    {
      key: 'python',
      label: 'Python',
      text: `# pip install segment-analytics-python\nimport segment.analytics as analytics\n\nanalytics.write_key = '${key}'\nanalytics.host = '${origin}'\nanalytics.track('u_1', 'Order Completed', {'order_id': 'A-1', 'total': 42, 'currency': 'EUR'},\n                context={'consent': {'categories': {'analytics': True, 'marketing': True, 'advertising': True}}})\nanalytics.flush()`,
    },
  ];
}
