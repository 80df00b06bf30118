/** Published server SDKs, pointed to the service by host and key alone. Beyond that they are only told to send soon. */
import { Analytics as CustomerIo } from '@customerio/cdp-analytics-node';
import { jitsuAnalytics } from '@jitsu/js';
import RudderStack from '@rudderstack/rudder-sdk-node';
import { Analytics as Segment } from '@segment/analytics-node';
import { describe, test } from 'vitest';
import { onServers } from '../harness/service.ts';
import { stage } from '../harness/stage.ts';
import { ANONYMOUS, type Call, jitsuCalls, type Method, messageCalls } from './calls.ts';
import { playStory, type Sdk } from './story.ts';

/** The call of this name, whatever its arguments: `calls.ts` knows which the SDK takes. */
const invoke = (target: object, { method, args }: Call): unknown =>
  (target as Record<Method, (...args: unknown[]) => unknown>)[method](...args);

const SDKS: Sdk[] = [
  {
    name: '@segment/analytics-node',
    calls: messageCalls,
    gzip: false,
    retries: true,
    async open({ url, key }) {
      const analytics = new Segment({ writeKey: key, host: url, flushAt: 2, flushInterval: 50 });
      return { call: async (call) => void invoke(analytics, call), close: () => analytics.closeAndFlush() };
    },
  },
  {
    name: '@rudderstack/rudder-sdk-node',
    calls: messageCalls,
    gzip: true,
    retries: true,
    async open({ url, key }) {
      const analytics = new RudderStack(key, { dataPlaneUrl: url, flushAt: 2, flushInterval: 50, logLevel: 'silly' });
      return { call: async (call) => void invoke(analytics, call), close: async () => void (await analytics.flush()) };
    },
  },
  {
    name: '@customerio/cdp-analytics-node',
    calls: messageCalls,
    gzip: false,
    retries: true,
    async open({ url, key }) {
      const analytics = new CustomerIo({ writeKey: key, host: url, maxEventsInBatch: 2, flushInterval: 50 });
      return { call: async (call) => void invoke(analytics, call), close: async () => void (await analytics.closeAndFlush()) };
    },
  },
  {
    name: '@jitsu/js',
    calls: jitsuCalls,
    gzip: false,
    retries: false,
    async open({ url, key }) {
      let failed = false;
      const errorPolicy = () => void (failed = true);
      const analytics = jitsuAnalytics({ writeKey: `${key}:server`, host: url, s2s: true, errorPolicy });
      analytics.setAnonymousId(ANONYMOUS);
      return {
        async call(call) {
          do {
            failed = false;
            await invoke(analytics, call);
          } while (failed);
        },
        close: async () => {},
      };
    },
  },
];

// The stores have stories of their own; an SDK sees the same HTTP on both.
describe.skipIf(onServers)('published server SDKs', async () => {
  const scene = await stage();
  test.concurrent.each(SDKS)('$name', (sdk) => playStory(scene, sdk));
});
