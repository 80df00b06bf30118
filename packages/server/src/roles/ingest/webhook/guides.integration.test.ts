/** Runs the signed request of each guide in docs/guides/inbound with a shell, against a source of that provider. */
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { WebhookSource } from '@firsthand/core/config/resources.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aPipeline, aSnapshot, aSource, type Harness, startIngest } from '../testing/harness.ts';
import { SECRET } from '../testing/webhooks.ts';

const run = promisify(execFile);
const guide = (provider: string) => readFileSync(new URL(`../../../../../../docs/guides/inbound/${provider}.md`, import.meta.url), 'utf8');
const blockOf = (provider: string, fence: string) => new RegExp(`\`\`\`${fence}\\n([\\s\\S]*?)\`\`\``).exec(guide(provider))?.[1] ?? '';

/** The source of the guide, and the event that its request makes. */
const GUIDES: [provider: WebhookSource['provider'], event: object][] = [
  ['stripe', { event_id: 'evt_try', event: 'Payment Succeeded', user_id: 'cus_9' }],
  ['shopify', { event_id: 'try-shopify', event: 'Order Completed' }],
  ['hubspot', { event: 'Contact Created' }],
  ['typeform', { event_id: 'try-typeform', event: 'Form Submitted', user_id: 'u-1' }],
  ['intercom', { event_id: 'try-intercom', event: 'User Created', user_id: 'u-1' }],
  ['github', { event_id: 'try-github', event: 'Issue Changed', properties: { action: 'opened' } }],
  ['svix', { event_id: 'try-svix', event: 'user.created', properties: { id: 'u-1' } }],
  [
    'custom',
    { event_id: 'try-custom', event: 'Order Completed', user_id: 'g-1', properties: { total: 42, currency: 'EUR', channel: 'desk' } },
  ],
];
/** The custom source is the one that its guide creates. */
const custom = JSON.parse(blockOf('custom', 'json')) as Partial<WebhookSource>;

let harness: Harness;
beforeAll(async () => {
  const sources = GUIDES.map(([provider]) => {
    const { pipeline_id: _, ...over } = provider === 'custom' ? custom : {};
    return aSource({ id: `whs_${provider}`, provider, signing_secret: SECRET, ...over });
  });
  harness = await startIngest(aSnapshot([aPipeline()], sources));
});
afterAll(() => harness.close());

const missing = ['sh', 'curl', 'openssl', 'base64', 'od'].filter((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0);
test.skipIf(missing.length > 0).each(GUIDES)(
  `the request of the guide for %s${missing.map((name) => ` (no ${name})`).join('')}`,
  async (provider, event) => {
    const before = new Set((await harness.stored()).map(({ envelope }) => envelope.event_id));
    const env = { ...process.env, URL: `${harness.url}/v1/webhook?source=whs_${provider}`, SECRET };
    const { stdout } = await run('sh', ['-e', '-c', blockOf(provider, 'sh')], { env });
    expect(JSON.parse(stdout)).toEqual({ success: true });
    const stored = (await harness.stored()).filter(({ envelope }) => !before.has(envelope.event_id)).map((each) => each.event);
    expect(stored).toEqual([
      expect.objectContaining({
        ...event,
        ...('properties' in event ? { properties: expect.objectContaining(event.properties as object) } : {}),
      }),
    ]);
  },
);
