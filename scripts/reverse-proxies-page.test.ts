/** The Worker of the page on reverse proxies runs here as it is printed, in front of a real listener. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { aPipeline, aSnapshot, startIngest } from '../packages/server/src/roles/ingest/testing/harness.ts';

const page = readFileSync(join(import.meta.dirname, '../docs/guides/operations/reverse-proxies.md'), 'utf8');
const VISITOR = '203.0.113.9';

test('the Worker passes path, query, body, headers and the address of the visitor', async () => {
  const harness = await startIngest(aSnapshot([aPipeline()]), { settings: { trustProxy: 1 } });
  try {
    const source = /```js\n(export default [\s\S]+?)```/.exec(page)?.[1] ?? '';
    expect(source).toContain('https://events.shop.example');
    const code = source.replace('export default', 'return').replaceAll('https://events.shop.example', harness.url);
    const worker = new Function(code)() as { fetch(request: Request): Promise<Response> };
    const headers = { 'cf-connecting-ip': VISITOR, 'x-forwarded-for': '6.6.6.6', cookie: '_df_id=known' };
    const posted = await worker.fetch(
      new Request('https://shop.example/fh/v1/t', {
        method: 'POST',
        headers: { ...headers, authorization: 'Bearer pk_web' },
        body: JSON.stringify({ type: 'track', event: 'Seen', messageId: 'posted', properties: { at: 'shop' } }),
      }),
    );
    const pixel = await worker.fetch(
      new Request('https://shop.example/fh/v1/pixel/t?writeKey=pk_web&event=Seen&messageId=pixel&properties.at=shop', { headers }),
    );
    expect([posted.status, pixel.status, pixel.headers.get('content-type')]).toEqual([200, 200, 'image/gif']);
    const stored = await harness.stored();
    expect(stored.map(({ envelope }) => envelope.event_id).toSorted()).toEqual(['pixel', 'posted']);
    for (const { envelope, event } of stored) {
      expect(envelope.ip).toBe(VISITOR);
      expect(event).toMatchObject({ anonymous_id: 'known', properties: { at: 'shop' } });
    }
  } finally {
    await harness.close();
  }
});
