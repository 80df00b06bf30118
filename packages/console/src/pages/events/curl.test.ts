import { expect, test } from 'vitest';
import { curlOf } from './curl.ts';

test('an event as curl goes to the ingest address with the key of its pipeline, and quotes survive a shell', () => {
  const text = curlOf(
    { ingestUrl: 'https://in.shop.example', key: 'pk_1' },
    { type: 'page', received: { properties: { title: "Ada's shop" } }, event: null },
  );
  expect(text).toContain("curl https://in.shop.example/v1/page \\\n  -H 'authorization: Bearer pk_1'");
  expect(text).toContain("Ada'\\''s shop");
});

test.each([
  ['of an SDK, which names the type in the path alone', { type: 'track', received: { event: 'Order Completed' } }, '/v1/track'],
  ['that came as a screen', { type: 'page', original_type: 'screen', received: { type: 'screen' } }, '/v1/screen'],
  ['that came as an alias', { type: 'identify', original_type: 'alias', received: { userId: 'u_1' } }, '/v1/alias'],
])('an event %s is sent again to the path that takes it (it was refused: “type is required”)', (_what, event, path) => {
  expect(curlOf({ ingestUrl: 'https://in.shop.example', key: 'pk_1' }, { ...event, event: null })).toContain(
    `curl https://in.shop.example${path} \\\n`,
  );
});
