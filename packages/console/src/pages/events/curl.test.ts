import { expect, test } from 'vitest';
import { curlOf } from './curl.ts';

test('an event as curl goes to the ingest address with the key of its pipeline, and quotes survive a shell', () => {
  const text = curlOf(
    { ingestUrl: 'https://in.shop.example', key: 'pk_1' },
    { type: 'page', received: { properties: { title: "Ada's shop" } }, event: null },
  );
  expect(text).toContain("curl https://in.shop.example/v1/p \\\n  -H 'authorization: Bearer pk_1'");
  expect(text).toContain("Ada'\\''s shop");
});
