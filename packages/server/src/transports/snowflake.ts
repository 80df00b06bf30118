/**
 * Rows in Snowflake through Snowpipe Streaming's REST API, on one named channel per table. The channel's offset token lists the batches
 * that it committed last, so a batch that comes again is recognised, also by another process. Tables are made and changed through the
 * SQL API. `jwt` is the key-pair token of both.
 */
import { hash, randomUUID } from 'node:crypto';
import { isObject } from '@firsthand/core/json.ts';
import { quoted, readColumn, SNOWFLAKE } from '@firsthand/core/tables/dialects.ts';
import type { VendorReply, VendorRequest } from '@firsthand/core/vendor/compiled.ts';
import { jwtSigner } from '@firsthand/core/vendor/jwt.ts';
import { privateKeys } from '../runtime/private-keys.ts';
import type { HttpDeps, OpenTransport } from './port.ts';
import { BadReply, fetchReply, forEachLoad, httpFailure, NoReply, parsed, rowJson, succeeded, untilNextPoll } from './tables/http.ts';
import type { Load, StoreFailure, TableRef, TableStore } from './tables/store.ts';
import { openTables, readTableSettings } from './tables/writer.ts';

const JWT_S = 3_540;
/** Scoped tokens live for an hour; a rejected one is replaced at once anyway. */
const TOKEN_MS = 1_800_000;
const TABLES_AT_ONCE = 8;
/** Batches in the offset token. More than one, because a retried batch may come after later ones. */
const REMEMBERED = 12;

/** `account`, `user`, `private_key`, `database`, `schema`, `role`, `channel`, `endpoint` and the settings of `readTableSettings`. */
export const openSnowflake: OpenTransport = (connection, { http }) =>
  openTables(snowflakeStore(connection, http), readTableSettings(connection));

interface Channel {
  continuation: string;
  /** Digests of the batches that the channel committed, the newest last. */
  committed: string[];
  errors: number;
}
interface ChannelStatus {
  last_committed_offset_token?: string | null;
  rows_error_count?: number;
  last_error_message?: string | null;
}

function snowflakeStore(connection: Readonly<Record<string, string>>, http: HttpDeps): TableStore {
  const { account = '', user = '', private_key = '', database = '', schema = '', role, endpoint } = connection;
  const channelName = (connection.channel || 'FIRSTHAND').toUpperCase();
  const origin = endpoint || `https://${account.toLowerCase().replaceAll('_', '-')}.snowflakecomputing.com`;
  const subject = `${claimAccount(account)}.${user.toUpperCase()}`;
  const sign = jwtSigner(
    { algorithm: 'RS256', private_key, claims: { iss: `${subject}.{{key.fingerprint}}`, sub: subject }, lifetime_s: JWT_S },
    privateKeys,
  );
  const channels = new Map<string, Channel>();
  let ingest: { host: Promise<{ origin: string; token: string }>; until: number } | undefined;
  let queue: Promise<unknown> = Promise.resolve();

  function signed(request: VendorRequest, deadline: number): Promise<VendorReply> {
    let jwt: string;
    try {
      jwt = sign(http.clock.now());
    } catch {
      // The error may quote the key.
      throw new NoReply('the private key does not parse', false);
    }
    const headers = {
      ...request.headers,
      Authorization: `Bearer ${jwt}`,
      'X-Snowflake-Authorization-Token-Type': 'KEYPAIR_JWT',
      Accept: 'application/json',
    };
    return fetchReply(http, { ...request, headers }, deadline);
  }
  async function run(
    statement: string,
    deadline: number,
  ): Promise<{ data?: (string | null)[][]; resultSetMetaData?: { numRows?: number } }> {
    const asked = { statement, timeout: 60, database, schema, ...(role ? { role } : {}) };
    const request = {
      method: 'POST',
      url: `${origin}/api/v2/statements?requestId=${randomUUID()}`,
      headers: { 'Content-Type': 'application/json' },
    };
    let reply = await signed({ ...request, body: JSON.stringify(asked) }, deadline);
    for (let polls = 0; reply.status === 202; polls++) {
      const { statementHandle = '' } = (parsed(reply) ?? {}) as { statementHandle?: string };
      await untilNextPoll(polls, deadline);
      reply = await signed(
        { method: 'GET', url: `${origin}/api/v2/statements/${encodeURIComponent(statementHandle)}`, headers: {} },
        deadline,
      );
    }
    if (!succeeded(reply)) throw badReply(reply);
    return (parsed(reply) ?? {}) as Awaited<ReturnType<typeof run>>;
  }
  const nameOf = ({ name }: TableRef) => [database, schema, name].map((part) => quoted(part, SNOWFLAKE)).join('.');

  /** The ingest host of the account, and a token for it. */
  function ingestion(deadline: number): Promise<{ origin: string; token: string }> {
    if (ingest && ingest.until > performance.now()) return ingest.host;
    const host = findIngestion(deadline);
    ingest = { host, until: performance.now() + TOKEN_MS };
    host.catch(() => {
      ingest = undefined;
    });
    return host;
  }
  async function findIngestion(deadline: number): Promise<{ origin: string; token: string }> {
    const found = await signed({ method: 'GET', url: `${origin}/v2/streaming/hostname`, headers: {} }, deadline);
    if (!succeeded(found)) throw badReply(found);
    const body = parsed(found);
    const host = (isObject(body) && typeof body.hostname === 'string' ? body.hostname : found.body).trim();
    const form = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', scope: host });
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const got = await signed({ method: 'POST', url: `${origin}/oauth/token`, headers, body: form.toString() }, deadline);
    if (!succeeded(got)) throw badReply(got);
    const answer = parsed(got);
    const token = (isObject(answer) && typeof answer.token === 'string' ? answer.token : got.body).trim();
    // Certificates do not cover underscores.
    return { origin: endpoint || `https://${host.replaceAll('_', '-')}`, token };
  }
  async function stream(method: string, path: string, deadline: number, body?: string, type = 'application/json'): Promise<VendorReply> {
    for (let fresh = false; ; fresh = true) {
      const { origin: host, token } = await ingestion(deadline);
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': type };
      const reply = await fetchReply(http, { method, url: host + path, headers, ...(body === undefined ? {} : { body }) }, deadline);
      if (reply.status === 401 && !fresh) {
        ingest = undefined;
        continue;
      }
      if (!succeeded(reply)) throw badReply(reply);
      return reply;
    }
  }

  const pipePath = ({ name }: TableRef) =>
    `databases/${encodeURIComponent(database)}/schemas/${encodeURIComponent(schema)}/pipes/${encodeURIComponent(`${name}-STREAMING`)}`;
  async function openChannel(table: TableRef, deadline: number): Promise<Channel> {
    const reply = await stream('PUT', `/v2/streaming/${pipePath(table)}/channels/${encodeURIComponent(channelName)}`, deadline, '{}');
    const body = (parsed(reply) ?? {}) as { next_continuation_token?: string; channel_status?: ChannelStatus };
    const { last_committed_offset_token: token, rows_error_count = 0 } = body.channel_status ?? {};
    const channel = { continuation: body.next_continuation_token ?? '', committed: digests(token), errors: rows_error_count };
    channels.set(table.name, channel);
    return channel;
  }
  async function statusOf(table: TableRef, deadline: number): Promise<ChannelStatus> {
    const reply = await stream(
      'POST',
      `/v2/streaming/${pipePath(table)}:bulk-channel-status`,
      deadline,
      JSON.stringify({ channel_names: [channelName] }),
    );
    const { channel_statuses: all = {} } = (parsed(reply) ?? {}) as { channel_statuses?: Record<string, ChannelStatus> };
    return all[channelName] ?? {};
  }

  async function append(load: Load, deadline: number): Promise<void> {
    const rows = load.rows.map((row) => rowJson(load, row, true)).join('\n');
    const digest = hash('sha256', rows).slice(0, 16);
    for (let again = false; ; again = true) {
      const channel = channels.get(load.table.name) ?? (await openChannel(load.table, deadline));
      if (channel.committed.includes(digest)) return;
      const offset = [...channel.committed, digest].slice(-REMEMBERED).join(',');
      const query = new URLSearchParams({ continuationToken: channel.continuation, startOffsetToken: offset, endOffsetToken: offset });
      const path = `/v2/streaming/data/${pipePath(load.table)}/channels/${encodeURIComponent(channelName)}/rows?${query}`;
      try {
        const reply = await stream('POST', path, deadline, rows, 'application/x-ndjson');
        const { next_continuation_token } = (parsed(reply) ?? {}) as { next_continuation_token?: string };
        channel.continuation = next_continuation_token ?? '';
        return await committed(load, channel, digest, deadline);
      } catch (error) {
        // Rows that were not committed are discarded when the channel is opened again: then it says what it has.
        channels.delete(load.table.name);
        if (again || !isStale(error)) throw error;
      }
    }
  }
  /** An accepted batch is durable once the channel's offset token names it. */
  async function committed(load: Load, channel: Channel, digest: string, deadline: number): Promise<void> {
    for (let polls = 0; ; polls++) {
      const status = await statusOf(load.table, deadline);
      const known = digests(status.last_committed_offset_token);
      if (known.includes(digest)) {
        channel.committed = known;
        const dropped = (status.rows_error_count ?? 0) - channel.errors;
        channel.errors += Math.max(0, dropped);
        if (dropped > 0) throw new RowsDropped(`snowflake dropped ${dropped} rows: ${status.last_error_message ?? 'no reason given'}`);
        return;
      }
      if (performance.now() >= deadline) throw new NoReply('timeout: the rows are not committed yet', false);
      await untilNextPoll(polls, deadline);
    }
  }

  return {
    dialect: SNOWFLAKE,
    async describe(table, deadline) {
      try {
        const { data = [] } = await run(`DESC TABLE ${nameOf(table)}`, deadline);
        return data.map(([name, type]) => readColumn(name ?? '', type ?? '', SNOWFLAKE));
      } catch (error) {
        if (error instanceof BadReply && error.code === '002003') return undefined;
        throw error;
      }
    },
    async countTables(_schema, deadline) {
      const where = [database, schema].map((part) => quoted(part, SNOWFLAKE)).join('.');
      const { data = [], resultSetMetaData } = await run(`SHOW TERSE TABLES IN SCHEMA ${where}`, deadline);
      return resultSetMetaData?.numRows ?? data.length;
    },
    async create(table, _kind, columns, deadline) {
      const list = columns.map(({ name, sql }) => `${quoted(name, SNOWFLAKE)} ${sql}`);
      await run(`CREATE TABLE IF NOT EXISTS ${nameOf(table)} (${list.join(', ')})`, deadline);
    },
    async addColumns(table, columns, deadline) {
      for (const { name, sql } of columns)
        await run(`ALTER TABLE ${nameOf(table)} ADD COLUMN IF NOT EXISTS ${quoted(name, SNOWFLAKE)} ${sql}`, deadline);
      // An open channel keeps the columns that the table had.
      channels.delete(table.name);
    },
    async write(loads, deadline) {
      // A channel takes one batch after the other: its tokens follow each other.
      const before = queue;
      const work = (async () => {
        await before.catch(() => undefined);
        await forEachLoad(loads, TABLES_AT_ONCE, (load) => append(load, deadline));
      })();
      queue = work;
      await work;
      return [];
    },
    failure: (error) => failureOf(error, http.clock.now()),
    close: () => Promise.resolve(),
  };
}

class RowsDropped extends Error {}

/** `xy123.eu-west-1` is `XY123`; `org-account` stays as it is. As in Snowflake’s own sample of the key-pair token. */
export function claimAccount(account: string): string {
  const [first = '', ...rest] = account.toUpperCase().split('.');
  if (rest[0] === 'GLOBAL') return first.split('-')[0] ?? first;
  return first;
}

function digests(token: string | null | undefined): string[] {
  return token ? token.split(',') : [];
}
function isStale(error: unknown): boolean {
  return error instanceof BadReply && (error.reply.status === 409 || /STALE|CONTINUATION|CHANNEL/i.test(`${error.code} ${error.message}`));
}

function badReply(reply: VendorReply): BadReply {
  const body = parsed(reply);
  const { code, message } = isObject(body) ? body : {};
  return new BadReply(reply, typeof code === 'string' ? code : '', typeof message === 'string' ? message : reply.body);
}

function failureOf(error: unknown, now: number): StoreFailure {
  // The others of the batch are stored already, so none of them is sent again.
  if (error instanceof RowsDropped) return { kind: 'never', reason: error.message };
  const failure = httpFailure('snowflake', error, now);
  if (!(error instanceof BadReply)) return failure;
  if (error.code === '003001') return { ...failure, kind: 'denied' };
  if (isStale(error) || error.code === '390144') return { ...failure, kind: 'later' };
  return failure;
}
