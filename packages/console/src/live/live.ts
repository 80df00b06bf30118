/** One WebSocket per tab to the live debugger. Frames go to subscribers. */
import { session } from '../session/session.ts';
import { createLive } from './connection.ts';
import { createRecentCounts } from './recent-counts.ts';

export type { FrameScope, LiveFrame, LiveState } from './connection.ts';

/** No frames until a page asks for them. */
const PATH = '/v1/admin/debug/live?heartbeat=true&frames=none';

export const live = createLive({
  token: session.token,
  renew: session.renew,
  open(token) {
    const url = new URL(PATH, location.href);
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    return new WebSocket(url, ['bearer', token]);
  },
});
export const recentCounts = createRecentCounts(live);
addEventListener('online', live.retryNow);
addEventListener('offline', live.networkLost);
