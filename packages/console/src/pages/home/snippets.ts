/** How to send a first event, with the real address and key. */
export interface Snippet {
  key: string;
  label: string;
  text: string;
  note?: string;
}

export function snippets(origin: string, key: string, built: boolean): Snippet[] {
  return [
    {
      key: 'curl',
      label: 'curl',
      text: `curl ${origin}/v1/t \\\n  -H 'authorization: Bearer ${key}' \\\n  -H 'content-type: application/json' \\\n  -d '{"type": "track", "event": "Order Completed", "properties": {"order_id": "A-1", "total": 42, "currency": "EUR"}}'`,
    },
    {
      key: 'html',
      label: 'Website',
      text: `<script async src="${origin}/c/${key}/d.js" data-pipeline-key="${key}"></script>\n<script>\n  (window._df = window._df || []).push(['track', 'Order Completed', { order_id: 'A-1', total: 42, currency: 'EUR' }]);\n</script>`,
      ...(built ? {} : { note: 'The script is served once the pipeline’s collector is built: open the pipeline, tab Collector.' }),
    },
    {
      key: 'node',
      label: 'Node',
      text: `// npm install @segment/analytics-node\nimport { Analytics } from '@segment/analytics-node';\n\nconst analytics = new Analytics({ writeKey: '${key}', host: '${origin}' });\nanalytics.track({ userId: 'u_1', event: 'Order Completed', properties: { order_id: 'A-1', total: 42, currency: 'EUR' } });\nawait analytics.closeAndFlush();`,
      note: 'Segment’s libraries work by changing their host and key.',
    },
    {
      key: 'python',
      label: 'Python',
      text: `# pip install segment-analytics-python\nimport segment.analytics as analytics\n\nanalytics.write_key = '${key}'\nanalytics.host = '${origin}'\nanalytics.track('u_1', 'Order Completed', {'order_id': 'A-1', 'total': 42, 'currency': 'EUR'})\nanalytics.flush()`,
    },
  ];
}
