import { expect, test } from 'vitest';
import { SOURCES, snapshot } from '../../roles/ingest/testing/webhooks.ts';
import { convertInTurns, convertWebhook, isLargeWebhook } from './convert.ts';

const rules = snapshot.pipelines.get('pl_web')!.ingest;
const source = snapshot.webhookSources.get(SOURCES.find(({ id }) => id === 'whs_open')!.id)!;
const people = Array.from({ length: 20_000 }, (_, i) => ({ email: `person-${i}@shop.example` }));
// A long integer: the body is parsed a second time.
const body = Buffer.from(JSON.stringify({ uid: 'large', people }).replace('{', '{"order":9007199254740993,'));
const request = { headers: {}, query: {}, body, receivedAt: 1_760_000_000_000, urls: [] };

test('a large webhook leaves the event loop to others between its passes', async () => {
  expect(isLargeWebhook(request)).toBe(true);
  let phases = 0;
  let done = false;
  const count = () => {
    phases++;
    if (!done) setImmediate(count);
  };
  setImmediate(count);
  const converted = await convertInTurns(source, rules, request);
  done = true;
  // Parse, exact integers, map, serialise.
  expect(phases).toBeGreaterThanOrEqual(4);
  expect(converted).toEqual(convertWebhook(source, rules, request));
  expect(converted).toMatchObject({ ok: true, records: [{ eventId: expect.any(String) }] });
});
