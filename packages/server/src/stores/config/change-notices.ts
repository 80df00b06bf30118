/**
 * Hears of configuration changes through PostgreSQL notifications. `live` tells whether they arrive: a probe is sent through another
 * connection at every interval and must be heard. Behind a pooler that does not forward notifications `live` stays false, and the caller
 * polls.
 */
import { randomBytes } from 'node:crypto';
import type pg from 'pg';

/** `nextConfigVersion` notifies it with every change. */
export const CONFIG_CHANNEL = 'firsthand_config';
const PROBE_EVERY_MS = 5_000;
const PROBE_WITHIN_MS = 2_000;
const RECONNECT_MS = 1_000;

export interface ChangeNotices {
  readonly live: boolean;
  stop(): Promise<void>;
}
export interface ChangeNoticesOptions {
  databaseUrl: string;
  /** Sends a notification through another connection. */
  notify(channel: string, payload: string): Promise<unknown>;
  /** A change was committed, or notifications may have been missed. */
  onChange(): void;
}

export function listenForChanges({ databaseUrl, notify, onChange }: ChangeNoticesOptions): ChangeNotices {
  const probeChannel = `firsthand_probe_${randomBytes(8).toString('hex')}`;
  let client: pg.Client | undefined;
  let live = false;
  let stopped = false;
  let heard: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function connect(): Promise<void> {
    const { default: pg } = await import('pg');
    const opened = new pg.Client({
      connectionString: databaseUrl,
      connectionTimeoutMillis: PROBE_WITHIN_MS,
      query_timeout: PROBE_WITHIN_MS,
      keepAlive: true,
      application_name: 'firsthand changes',
    });
    opened.on('error', () => drop(opened));
    opened.on('end', () => drop(opened));
    opened.on('notification', ({ channel }) => {
      if (channel === probeChannel) heard?.();
      else onChange();
    });
    await opened.connect();
    client = opened;
    await opened.query(`listen ${CONFIG_CHANNEL}; listen ${probeChannel}`);
  }
  function drop(lost: pg.Client): void {
    if (client === lost) client = undefined;
    live = false;
    lost.end().catch(() => undefined);
  }
  async function probe(): Promise<void> {
    const echo = new Promise<boolean>((resolve) => {
      const late = setTimeout(() => resolve(false), PROBE_WITHIN_MS);
      late.unref();
      heard = () => {
        clearTimeout(late);
        resolve(true);
      };
    });
    await notify(probeChannel, '');
    const before = live;
    live = await echo;
    // A change may have been committed while nothing was heard.
    if (live && !before) onChange();
  }
  async function round(): Promise<void> {
    try {
      if (client === undefined) await connect();
      await probe();
      if (!live && client !== undefined) drop(client);
    } catch {
      // The caller's own queries report that the database is unavailable.
      if (client !== undefined) drop(client);
      live = false;
    }
  }
  let running: Promise<void>;
  function start(): void {
    running = round();
    void running.then(() => {
      if (stopped) return;
      timer = setTimeout(start, live ? PROBE_EVERY_MS : RECONNECT_MS);
      timer.unref();
    });
  }
  start();
  return {
    get live() {
      return live;
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
      live = false;
      const last = client;
      client = undefined;
      await last?.end().catch(() => undefined);
    },
  };
}
