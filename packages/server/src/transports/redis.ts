/**
 * Entries of Redis streams. With a deduplication window a script adds an entry only if its event id was not added within the
 * window; the entry and its mark are written in one step. The commands of a batch are pipelined in order on one connection.
 */
import { createHash } from 'node:crypto';
import type { TransportRecord } from '@firsthand/core/vendor/transport.ts';
import { createClient } from '@redis/client';
import { SocketGuard } from '../outbound/guarded-sockets.ts';
import { errorText } from '../runtime/error-text.ts';
import { jsonBytes } from './json-bytes.ts';
import { LazyClient, tlsOptions, verdictOfAll, within } from './lazy-client.ts';
import type { OpenTransport } from './port.ts';

type Redis = ReturnType<typeof createClient>;

const CONNECT_MS = 10_000;
// The mark comes after the entry: a script that fails at the entry leaves no mark, and the retry adds it.
const ADD_ONCE = `if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
if ARGV[4] == '' then redis.call('XADD', KEYS[1], '*', 'event_id', ARGV[1], 'data', ARGV[2])
else redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[4], '*', 'event_id', ARGV[1], 'data', ARGV[2]) end
redis.call('SET', KEYS[2], '', 'EX', ARGV[3])
return 1`;
/** The server forgot the script, or became a replica: another connection loads the script and finds the new primary. Redis 6 wraps it. */
const ANOTHER_CONNECTION = /NOSCRIPT|READONLY/;
const ADD_ONCE_SHA = createHash('sha1').update(ADD_ONCE).digest('hex');

/** `url`, `username`, `password`, `tls` for `rediss:`, `ca`, …, `deduplication_s` (0: none), `max_length` (empty: no limit). */
export const openRedis: OpenTransport = (connection, options) => {
  const guard = new SocketGuard(options);
  const once = Number(connection.deduplication_s ?? 0) > 0;
  const client = new LazyClient<Redis>(
    async () => {
      const opened = createClient(clientOptions(connection));
      // Commands that were sent are rejected; the next batch opens another client.
      opened.on('error', () => client.discard());
      await guard.run(() => opened.connect());
      if (once) await opened.sendCommand(['SCRIPT', 'LOAD', ADD_ONCE]);
      return opened;
    },
    async (opened) => opened.destroy(),
  );

  return {
    async send(records, { timeout_ms }) {
      const deadline = performance.now() + timeout_ms;
      try {
        const redis = await client.use(deadline);
        const replies = await within(
          Promise.allSettled(records.map((record) => redis.sendCommand(command(record, connection, once)))),
          deadline,
        );
        if (replies.some((reply) => reply.status === 'rejected' && ANOTHER_CONNECTION.test(errorText(reply.reason)))) client.discard();
        return verdictOfAll(
          replies.map((reply) => {
            if (reply.status === 'fulfilled') return { kind: 'delivered' };
            const reason = `redis: ${errorText(reply.reason)}`;
            // The server ends the connection at a value above its limit, and the whole batch with it.
            if (!/invalid bulk length/.test(reason)) return { kind: 'unavailable', reason };
            return records.length === 1 ? { kind: 'refused', reason } : { kind: 'unavailable', reason };
          }),
        );
      } catch (error) {
        client.discard();
        return guard.refused
          ? { kind: 'refused', reason: guard.refused.message }
          : { kind: 'unavailable', reason: `redis: ${errorText(error)}` };
      }
    },
    close: () => client.close(),
  };
};

function clientOptions(connection: Readonly<Record<string, string>>): Parameters<typeof createClient>[0] {
  const url = new URL(connection.url ?? '');
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:') throw new Error('the URL must begin with redis:// or rediss://');
  const tls = url.protocol === 'rediss:' ? tlsOptions(connection) : undefined;
  const username = connection.username || decodeURIComponent(url.username);
  const password = connection.password || decodeURIComponent(url.password);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const address = { host, port: Number(url.port || 6379), connectTimeout: CONNECT_MS, reconnectStrategy: false as const };
  return {
    socket: tls === undefined ? address : { ...address, ...tls, tls: true, servername: host },
    ...(username ? { username } : {}),
    ...(password ? { password } : {}),
    database: Number(url.pathname.slice(1) || 0),
    disableOfflineQueue: true,
  };
}

function command(record: TransportRecord, connection: Readonly<Record<string, string>>, once: boolean): (string | Buffer)[] {
  const { event_id, target } = record;
  const data = jsonBytes(record);
  const { max_length = '', deduplication_s = '0' } = connection;
  if (once) return ['EVALSHA', ADD_ONCE_SHA, '2', target, markOf(target, event_id), event_id, data, deduplication_s, max_length];
  const trim = max_length === '' ? [] : ['MAXLEN', '~', max_length];
  return ['XADD', target, ...trim, '*', 'event_id', event_id, 'data', data];
}

/** In the slot of its stream, so that a script may use both. */
function markOf(stream: string, eventId: string): string {
  return /\{[^{}]+\}/.test(stream) ? `${stream}:event:${eventId}` : `{${stream}}:event:${eventId}`;
}
