/**
 * One WebSocket per tab to the live debugger. Frames go to subscribers; the state says whether what is shown is current.
 * Reconnects with backoff, with a fresh token after 4401 and 4408.
 */
import { session } from '../session/session.ts';

export interface LiveFrame {
  time: string;
  seq: number;
  stage: 'received' | 'rejected' | 'processed' | 'dropped' | 'delivered' | 'retrying' | 'dead_lettered' | 'webhook_rejected';
  pipeline_id: string | null;
  integration_id: string | null;
  event_id: string | null;
  type: string | null;
  event: string | null;
  reason: string | null;
  duration_ms: number | null;
  status: number | null;
  payload: unknown;
}
export type LiveState = { status: 'connecting' | 'live' | 'offline'; skipped: number; since: number };

const PATH = '/v1/admin/debug/live';
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
const CAUGHT_UP_AFTER_MS = 10_000;

let socket: WebSocket | undefined;
let wait = FIRST_WAIT_MS;
let retry: ReturnType<typeof setTimeout> | undefined;
let caughtUp: ReturnType<typeof setTimeout> | undefined;
let started = false;
let state: LiveState = { status: 'connecting', skipped: 0, since: Date.now() };
const stateListeners = new Set<() => void>();
const frameListeners = new Set<(frame: LiveFrame) => void>();

export const live = {
  get: (): LiveState => state,
  subscribe(listener: () => void): () => void {
    stateListeners.add(listener);
    return () => stateListeners.delete(listener);
  },
  onFrame(listener: (frame: LiveFrame) => void): () => void {
    frameListeners.add(listener);
    return () => frameListeners.delete(listener);
  },
  start(): void {
    if (started) return;
    started = true;
    void connect();
    addEventListener('online', live.retryNow);
  },
  retryNow(): void {
    wait = FIRST_WAIT_MS;
    void connect();
  },
  stop(): void {
    started = false;
    clearTimeout(retry);
    socket?.close();
    socket = undefined;
  },
};

async function connect(): Promise<void> {
  clearTimeout(retry);
  if (!started || socket !== undefined) return;
  const token = await session.token();
  if (token === undefined || !started || socket !== undefined) return;
  const url = new URL(PATH, location.href);
  url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  const opened = new WebSocket(url, ['bearer', token]);
  socket = opened;
  opened.onopen = () => {
    wait = FIRST_WAIT_MS;
    set({ status: 'live', skipped: 0, since: Date.now() });
  };
  opened.onmessage = ({ data }: MessageEvent<string>) => {
    const frame = JSON.parse(data) as LiveFrame | { stage: 'skipped'; count: number } | { stage: 'error'; reason: string };
    if (frame.stage === 'skipped') return skip((frame as { count: number }).count);
    if (frame.stage === 'error') return;
    for (const listener of frameListeners) listener(frame as LiveFrame);
  };
  opened.onclose = async ({ code }) => {
    socket = undefined;
    if (!started) return;
    // Since the connection was lost, not since the last try.
    if (state.status !== 'offline') set({ status: 'offline', skipped: 0, since: Date.now() });
    if (code === 4401 || code === 4408) await session.renew(token);
    retry = setTimeout(() => void connect(), wait);
    wait = Math.min(LONGEST_WAIT_MS, wait * 2);
  };
}
/** The page is behind while frames are skipped; once that has stopped for a while it has caught up. */
function skip(count: number): void {
  set({ ...state, skipped: state.skipped + count });
  clearTimeout(caughtUp);
  caughtUp = setTimeout(() => set({ ...state, skipped: 0 }), CAUGHT_UP_AFTER_MS);
}
function set(next: LiveState): void {
  state = next;
  for (const listener of stateListeners) listener();
}
