/** For tests of what an event becomes: pipelines of each sort, and a sender that reads back what was stored. */
import { expect } from 'vitest';
import { aPipeline, aSnapshot, type Harness, type StoredEvent, startIngest } from './harness.ts';

const js = aPipeline().js_builder_config;
export const snapshot = aSnapshot([
  aPipeline(),
  aPipeline({ id: 'pl_server', pipeline_key: 'pk_server', type: 'server' }),
  aPipeline({
    id: 'pl_gate',
    pipeline_key: 'pk_gate',
    js_builder_config: { ...js, consent_config: { required_category: 'analytics' } },
  }),
  aPipeline({
    id: 'pl_sync',
    pipeline_key: 'pk_sync',
    js_builder_config: {
      ...js,
      vendor_syncs: {
        meta: { enabled: true, consent_category: 'marketing' },
        google_analytics: { enabled: true },
        tiktok: { enabled: false },
      },
    },
  }),
]);
export const track = { type: 'track', event: 'X' };
export const browser = { origin: 'https://shop.example', 'x-forwarded-for': '203.0.113.9', 'user-agent': 'Browser/1' };

export interface Sent {
  response: Response;
  cookies: string[];
  stored: StoredEvent;
  /** How often the log holds it. */
  times: number;
}
export type Send = (path: string, body: Record<string, unknown>, headers?: Record<string, string>, key?: string) => Promise<Sent>;

export async function startSending(): Promise<{ harness: Harness; send: Send }> {
  const harness = await startIngest(snapshot, { watched: true, settings: { trustProxy: 1 } });
  let serial = 0;
  const send: Send = async (path, body, headers = {}, key = 'pk_web') => {
    const messageId = (body.messageId as string | undefined) ?? `id-${serial++}`;
    const response = await fetch(harness.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, ...headers },
      body: JSON.stringify({ messageId, ...body }),
    });
    expect(response.status, await response.clone().text()).toBe(200);
    const found = (await harness.stored()).filter((each) => each.event.event_id === messageId);
    return { response, cookies: response.headers.getSetCookie(), stored: found[0] as StoredEvent, times: found.length };
  };
  return { harness, send };
}
