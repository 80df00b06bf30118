import { createHash, createPublicKey, randomUUID } from 'node:crypto';
import { SNOWFLAKE } from '@firsthand/core/tables/dialects.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { claimAccount, openSnowflake } from './snowflake.ts';
import { driverOptions } from './testing/conformance.ts';
import { type Answer, type Asked, FakeWarehouse, Faults, type Row, serve } from './testing/fake-warehouse.ts';
import { testKills } from './testing/kills.ts';
import { describeTables, trackRecord } from './testing/tables-conformance.ts';
import { rsaKeyPair, verifiedClaims } from './testing/verify-jwt.ts';

const keys = rsaKeyPair();
const other = rsaKeyPair();
const warehouse = new FakeWarehouse();
const faults = new Faults();
const fingerprint = createHash('sha256')
  .update(createPublicKey(keys.publicPem).export({ type: 'spki', format: 'der' }))
  .digest('base64');
let url: string;
let close: () => Promise<void>;
const scoped = new Set<string>();
const limits = { timeout_ms: 20_000 };

interface Channel {
  sequencer: number;
  next: number;
  /** Rows that were accepted and are not committed: the next status commits them. */
  open: { rows: Row[]; offset: string }[];
  offset: string | null;
  errors: number;
  lastError: string | null;
}
const channels = new Map<string, Channel>();
const fail = (status: number, code: string, message: string): Answer => ({ status, body: { code, message } });

function handle(asked: Asked): Answer {
  const { path, headers, body } = asked;
  const bearer = (headers.authorization ?? '').replace(/^Bearer /, '');
  if (path.startsWith('/v2/streaming/') && path !== '/v2/streaming/hostname')
    return scoped.has(bearer) ? stream(asked) : fail(401, 'UNAUTHORIZED', 'token');
  const claims = verifiedClaims(bearer, keys.publicPem);
  if (claims?.iss !== `ACME-X.WRITER.SHA256:${fingerprint}` || claims.sub !== 'ACME-X.WRITER')
    return fail(401, '390144', 'JWT token is invalid.');
  if (headers['x-snowflake-authorization-token-type'] !== 'KEYPAIR_JWT' || !headers['user-agent']) return fail(400, '391903', 'headers');
  if (path === '/v2/streaming/hostname') return { status: 200, body: { hostname: 'acme_x.ingest.example.com' } };
  if (path === '/oauth/token') {
    const form = new URLSearchParams(body.toString());
    if (form.get('scope') !== 'acme_x.ingest.example.com') return fail(400, 'bad', 'scope');
    const token = randomUUID();
    scoped.add(token);
    return { status: 200, body: token };
  }
  return run((JSON.parse(body.toString()) as { statement: string }).statement);
}

function run(sql: string): Answer {
  const [db, schema, name = '', column = ''] = [...sql.matchAll(/"((?:[^"]|"")+)"/g)].map(([, one = '']) => one.replaceAll('""', '"'));
  if (db !== 'DB' || schema !== 'RAW') return fail(422, '002043', 'SQL compilation error: object does not exist');
  if (sql.startsWith('SHOW')) return { status: 200, body: { data: [], resultSetMetaData: { numRows: warehouse.tables.size } } };
  if (sql.startsWith('CREATE')) {
    const columns = [...sql.slice(sql.indexOf('(')).matchAll(/"((?:[^"]|"")+)" (\w+)/g)].map(
      ([, one = '', type = '']): [string, string] => [one.replaceAll('""', '"'), type],
    );
    warehouse.create(name, columns);
    return { status: 200 };
  }
  const table = warehouse.tables.get(name);
  if (!table) return fail(422, '002003', `Table '${name}' does not exist or not authorized.`);
  if (sql.startsWith('DESC'))
    return {
      status: 200,
      body: { data: [...table.columns].map(([one, type]) => [one, type === 'VARCHAR' ? 'VARCHAR(16777216)' : type, 'COLUMN']) },
    };
  if (!table.columns.has(column)) table.columns.set(column, / (\w+)$/.exec(sql)?.[1] ?? '');
  return { status: 200 };
}

function stream({ path, query, body }: Asked): Answer {
  const [, pipe = '', rest = ''] = /\/pipes\/(.+?)-STREAMING(.*)$/.exec(decodeURIComponent(path)) ?? [];
  let channel = channels.get(pipe);
  const status = (one: Channel) => ({
    last_committed_offset_token: one.offset,
    rows_error_count: one.errors,
    last_error_message: one.lastError,
  });
  if (rest === '/channels/FIRSTHAND') {
    if (!warehouse.tables.has(pipe)) return fail(404, 'ERR_TABLE_DOES_NOT_EXIST_NOT_AUTHORIZED', pipe);
    if (!channel) channels.set(pipe, (channel = { sequencer: 0, next: 0, open: [], offset: null, errors: 0, lastError: null }));
    // What the session before did not commit is discarded.
    channel.open = [];
    channel.sequencer++;
    channel.next = 0;
    return { status: 200, body: { next_continuation_token: `${channel.sequencer}:0`, channel_status: status(channel) } };
  }
  if (!channel) return fail(404, 'ERR_CHANNEL_DOES_NOT_EXIST', pipe);
  if (rest === ':bulk-channel-status') {
    const before = status(channel);
    for (const { rows, offset } of channel.open.splice(0)) {
      for (const row of rows) {
        const fault = warehouse.fault(pipe, row) ?? (Object.values(row).includes('refuse me') ? 'bad value' : undefined);
        if (fault === undefined) warehouse.insert(pipe, row);
        else {
          channel.errors++;
          channel.lastError = fault;
        }
      }
      channel.offset = offset;
    }
    return { status: 200, body: { channel_statuses: { FIRSTHAND: before } } };
  }
  if (query.get('continuationToken') !== `${channel.sequencer}:${channel.next}`)
    return fail(409, 'STALE_CONTINUATION_TOKEN_SEQUENCER', 'stale');
  if (body.length > 4_000_000) return fail(413, 'ERR_TOO_LARGE', 'too large');
  channel.open.push({
    rows: body
      .toString()
      .split('\n')
      .map((line) => JSON.parse(line) as Row),
    offset: query.get('endOffsetToken') ?? '',
  });
  return { status: 200, body: { next_continuation_token: `${channel.sequencer}:${++channel.next}` } };
}

beforeAll(async () => {
  ({ url, close } = await serve((asked) => faults.apply(asked, () => handle(asked))));
});
afterAll(() => close());
const connection = () => ({
  account: 'acme-x',
  user: 'writer',
  private_key: keys.privatePem,
  database: 'DB',
  schema: 'RAW',
  endpoint: url,
  layout: 'segment',
  create_table: 'true',
});
const opened = (over: Record<string, string> = {}) => openSnowflake({ ...connection(), ...over }, driverOptions());

describeTables('Snowflake', () => ({
  open: openSnowflake,
  connection: connection(),
  dialect: SNOWFLAKE,
  exactlyOnce: true,
  oneRowPerUser: false,
  wildRuns: 6,
  oneWriter: true,
  rows: async (table) => warehouse.rows(table),
}));

testKills('Snowflake', async () => {
  const eventIds = async () => (await warehouse.rows('TRACKS')).map((row) => String(row.ID));
  return {
    vendor: 'snowflake',
    config: { account: 'acme-x', user: 'writer', private_key: keys.privatePem, database: 'DB', schema: 'RAW' },
    connection: { ...connection() },
    eventIds,
    exactlyOnce: true,
  };
});
describe('Snowflake', () => {
  let event: string;
  let table: string;
  let n = 0;
  beforeEach(() => {
    event = `Fault ${++n}`;
    table = `FAULT_${n}`;
  });
  const stored = () => warehouse.rows(table).map(({ ID }) => ID);

  test.each([
    ['acme-x', 'ACME-X'],
    ['xy123.eu-west-1', 'XY123'],
    ['xy123-ext.global', 'XY123'],
  ])('the account %s is %s in the token', (account, claim) => expect(claimAccount(account)).toBe(claim));

  test('another writer took the channel: it is opened again', async () => {
    const transport = opened();
    await transport.send([trackRecord('a', event, {})], limits);
    for (const channel of channels.values()) channel.sequencer++;
    expect(await transport.send([trackRecord('b', event, {})], limits)).toEqual({ kind: 'delivered' });
    expect(stored()).toEqual(['a', 'b']);
  });
  test('an append whose answer was lost is stored once, also after later batches', async () => {
    const transport = opened();
    expect(await transport.send([trackRecord('zero', event, {})], limits)).toEqual({ kind: 'delivered' });
    faults.add(/bulk-channel-status$/, 'cut', { after: true });
    expect(await transport.send([trackRecord('a', event, {})], limits)).toMatchObject({ kind: 'unavailable' });
    expect(await transport.send([trackRecord('b', event, {})], limits)).toEqual({ kind: 'delivered' });
    for (const one of [transport, opened()]) expect(await one.send([trackRecord('a', event, {})], limits)).toEqual({ kind: 'delivered' });
    expect(stored().sort()).toEqual(['a', 'b', 'zero']);
  });
  test('a row that Snowflake drops is a dead letter', async () => {
    expect(await opened().send([trackRecord('a', event, { note: 'refuse me' })], limits)).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('snowflake dropped 1 rows: bad value'),
    });
  });
  test('throttling, a new scoped token, a wrong and a corrected key', async () => {
    const transport = opened();
    await transport.send([trackRecord('zero', event, {})], limits);
    faults.add(/\/rows$/, { status: 429, headers: { 'retry-after': '2' }, body: { code: 'ERR_THROTTLED', message: 'slow' } });
    expect(await transport.send([trackRecord('a', event, {})], limits)).toMatchObject({ kind: 'unavailable', retry_after_ms: 2_000 });
    scoped.clear();
    expect(await transport.send([trackRecord('a', event, {})], limits)).toEqual({ kind: 'delivered' });
    expect(await opened({ private_key: other.privatePem }).send([trackRecord('b', event, {})], limits)).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringContaining('390144'),
    });
    expect(await opened().send([trackRecord('b', event, {})], limits)).toEqual({ kind: 'delivered' });
    expect(stored()).toEqual(['zero', 'a', 'b']);
  });
});
