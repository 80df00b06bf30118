import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { FairAdmission } from '../fair-admission.ts';
import { type Harness, ORG } from '../testing/harness.ts';
import { deliver, startWebhooks } from '../testing/webhooks.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startWebhooks();
});
afterAll(() => harness.close());

test.each([
  ['a small webhook', '{"uid":"small"}', 1, 0],
  ['a large webhook', JSON.stringify({ uid: 'large', people: Array.from({ length: 20_000 }, (_, i) => ({ email: `p-${i}` })) }), 1, 0],
  ['a rejected webhook', '{"at":"soon"}', 0, 1],
  ['a large rejected webhook', JSON.stringify({ at: 'soon', text: 'x'.repeat(500_000) }), 0, 1],
])('%s counts towards the share of its organisation', async (_name, body, events, letters) => {
  const charge = vi.spyOn(FairAdmission.prototype, 'charge');
  onTestFinished(() => charge.mockRestore());
  const delivered = await deliver(harness, 'open', body);
  expect([delivered.status, delivered.events.length, delivered.letters.length]).toEqual([200, events, letters]);
  expect(charge.mock.calls).toEqual([[ORG, 1, expect.any(Number)]]);
});
