/**
 * The connection to the live debugger. Its state says whether the page is current. The service sends a heartbeat once it has accepted the
 * token and then every 15 seconds. The connection counts as live only after a heartbeat, and as lost when they stop.
 */
export interface LiveFrame {
  time: string;
  seq: number;
  stage: 'received' | 'rejected' | 'processed' | 'dropped' | 'delivered' | 'retrying' | 'dead_lettered' | 'webhook_rejected';
  pipeline_id: string | null;
  integration_id: string | null;
  event_id: string | null;
  type: string | null;
  /** `screen` or `alias`, where the event came as one. */
  original_type?: string;
  event: string | null;
  reason: string | null;
  duration_ms: number | null;
  status: number | null;
  payload: unknown;
}
/** What a page shows of the frames. The service sends no others. */
export interface FrameScope {
  pipeline_id?: string;
  event?: string;
}
/** The last minutes of a scope, in the words of `GET /v1/admin/stats`; zeros are left out. */
export interface CountsMessage {
  stage: 'counts';
  time: string;
  scope: object;
  counts: object;
}
export type LiveState = { status: 'connecting' | 'live' | 'offline'; skipped: number; since: number };

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
const CAUGHT_UP_AFTER_MS = 10_000;
/** Two heartbeats and some patience. */
const SILENCE_MS = 35_000;
const LISTEN_EVERY_MS = 5_000;
const BAD_TOKEN = 4401;
const EXPIRED_TOKEN = 4408;

/** What of a `WebSocket` is used. */
export interface Socket {
  onmessage: ((event: MessageEvent<string>) => void) | null;
  onclose: ((event: CloseEvent) => void) | null;
  send(text: string): void;
  close(): void;
}
export interface LiveDeps {
  token(): Promise<string | undefined>;
  renew(rejected: string): Promise<unknown>;
  open(token: string): Socket;
}
export interface Live {
  get(): LiveState;
  subscribe(listener: () => void): () => void;
  /** Frames of this scope are sent while somebody listens, also after a reconnect. */
  onFrame(scope: FrameScope, listener: (frame: LiveFrame) => void): () => void;
  /** Counts of these scopes are sent from now on, also after a reconnect. */
  askCounts(scopes: readonly object[]): void;
  onCounts(listener: (message: CountsMessage) => void): () => void;
  start(): void;
  stop(): void;
  /** Connects at once unless it is live. */
  retryNow(): void;
  /** The browser knows that the network is gone. */
  networkLost(): void;
}

export function createLive({ token: currentToken, renew, open }: LiveDeps): Live {
  let socket: Socket | undefined;
  let wait = FIRST_WAIT_MS;
  let heardAt = 0;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let caughtUp: ReturnType<typeof setTimeout> | undefined;
  let listening: ReturnType<typeof setInterval> | undefined;
  let started = false;
  let state: LiveState = { status: 'connecting', skipped: 0, since: Date.now() };
  const stateListeners = new Set<() => void>();
  const frameListeners = new Set<{ scope: FrameScope; listener: (frame: LiveFrame) => void }>();
  const countsListeners = new Set<(message: CountsMessage) => void>();
  let scopes: readonly object[] = [];
  let isAsking = false;

  async function connect(): Promise<void> {
    clearTimeout(retry);
    if (!started || socket !== undefined) return;
    const token = await currentToken();
    if (token === undefined || !started || socket !== undefined) return;
    const opened = open(token);
    socket = opened;
    heardAt = Date.now();
    opened.onmessage = ({ data }) => {
      if (socket === opened) hear(data);
    };
    opened.onclose = async ({ code }) => {
      if (socket !== opened) return;
      lose();
      if (code === BAD_TOKEN || code === EXPIRED_TOKEN) await renew(token);
      retryLater();
    };
  }
  function hear(data: string): void {
    heardAt = Date.now();
    const frame = JSON.parse(data) as
      | LiveFrame
      | CountsMessage
      | { stage: 'heartbeat' }
      | { stage: 'skipped'; count: number }
      | { stage: 'error' };
    if (frame.stage === 'error') return;
    if (state.status !== 'live') {
      wait = FIRST_WAIT_MS;
      set({ status: 'live', skipped: 0, since: Date.now() });
      if (scopes.length > 0) sendScopes();
      if (frameListeners.size > 0) sendFrameScopes();
    }
    if (frame.stage === 'heartbeat') return;
    if (frame.stage === 'counts') {
      for (const listener of countsListeners) listener(frame as CountsMessage);
      return;
    }
    if (frame.stage === 'skipped') {
      // Nothing is behind on a page that shows no frames.
      if (frameListeners.size > 0) skip((frame as { count: number }).count);
    } else for (const { scope, listener } of frameListeners) if (isOf(scope, frame as LiveFrame)) listener(frame as LiveFrame);
  }
  function sendScopes(): void {
    socket?.send(JSON.stringify({ type: 'counts', scopes }));
  }
  function sendFrameScopes(): void {
    const wanted = new Map([...frameListeners].map(({ scope }) => [JSON.stringify(scope), scope]));
    socket?.send(JSON.stringify({ type: 'frames', scopes: [...wanted.values()] }));
  }
  /** One message for all changes of a moment: a page that replaces another ends its scopes and adds its own. */
  function askFramesSoon(): void {
    if (isAsking) return;
    isAsking = true;
    queueMicrotask(() => {
      isAsking = false;
      if (state.status === 'live') sendFrameScopes();
    });
  }
  /** Later messages of the socket are ignored. */
  function lose(): void {
    const lost = socket;
    socket = undefined;
    lost?.close();
    clearTimeout(caughtUp);
    // Since the connection was lost, not since the last try.
    if (state.status !== 'offline') set({ status: 'offline', skipped: 0, since: Date.now() });
  }
  function retryLater(): void {
    clearTimeout(retry);
    if (!started || socket !== undefined) return;
    retry = setTimeout(() => void connect(), wait);
    wait = Math.min(LONGEST_WAIT_MS, wait * 2);
  }
  function giveUp(): void {
    if (socket === undefined) return;
    lose();
    retryLater();
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

  return {
    get: () => state,
    subscribe(listener) {
      stateListeners.add(listener);
      return () => stateListeners.delete(listener);
    },
    onFrame(scope, listener) {
      const entry = { scope, listener };
      frameListeners.add(entry);
      askFramesSoon();
      return () => {
        frameListeners.delete(entry);
        askFramesSoon();
      };
    },
    askCounts(next) {
      scopes = next;
      if (state.status === 'live') sendScopes();
    },
    onCounts(listener) {
      countsListeners.add(listener);
      return () => countsListeners.delete(listener);
    },
    start() {
      if (started) return;
      started = true;
      wait = FIRST_WAIT_MS;
      listening = setInterval(() => {
        if (Date.now() - heardAt > SILENCE_MS) giveUp();
      }, LISTEN_EVERY_MS);
      void connect();
    },
    stop() {
      started = false;
      clearTimeout(retry);
      clearTimeout(caughtUp);
      clearInterval(listening);
      const last = socket;
      socket = undefined;
      last?.close();
      set({ status: 'connecting', skipped: 0, since: Date.now() });
    },
    retryNow() {
      if (!started || state.status === 'live') return;
      wait = FIRST_WAIT_MS;
      // One that does not come to an end: its network may be gone.
      const stuck = socket;
      socket = undefined;
      stuck?.close();
      void connect();
    },
    networkLost: giveUp,
  };
}

/** As the service filters: those of a scope that was just left are still on their way, and other listeners have other scopes. */
function isOf({ pipeline_id, event }: FrameScope, frame: LiveFrame): boolean {
  if (pipeline_id !== undefined && frame.pipeline_id !== pipeline_id) return false;
  if (event === undefined || frame.event === event) return true;
  return frame.type !== 'track' && (event === `@${frame.type}` || event === `@${frame.original_type}`);
}
