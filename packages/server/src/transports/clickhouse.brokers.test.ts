import { CLICKHOUSE } from '@firsthand/core/tables/dialects.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChdb, startClickhouse } from '../../test/servers/clickhouse.ts';
import type { TestServer } from '../../test/servers/index.ts';
import { openClickhouse } from './clickhouse.ts';
import { describeTransport, driverOptions, record } from './testing/conformance.ts';
import { testKills } from './testing/kills.ts';
import { describeTables, trackRecord } from './testing/tables-conformance.ts';

const limits = { timeout_ms: 20_000 };

describe.skipIf(!findChdb())('ClickHouse (skipped without chdb)', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startClickhouse();
  });
  afterAll(() => server.stop());
  const connection = () => ({ url: server.url, database: 'test', username: 'firsthand', password: 'secret' });
  async function query(sql: string): Promise<string> {
    const headers = { 'X-ClickHouse-User': 'firsthand', 'X-ClickHouse-Key': 'secret' };
    const reply = await fetch(server.url, { method: 'POST', body: sql, headers });
    if (!reply.ok) throw new Error(await reply.text());
    return reply.text();
  }
  const rows = async (table: string, final = 'FINAL') => {
    const { data, meta } = JSON.parse(await query(`SELECT * FROM \`${table}\` ${final} FORMAT JSON`)) as {
      data: Record<string, unknown>[];
      meta: { name: string; type: string }[];
    };
    const times = new Set(meta.filter(({ type }) => type.includes('DateTime64')).map(({ name }) => name));
    return data.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([key, value]) => [
          key,
          times.has(key) && typeof value === 'string' ? `${value.replace(' ', 'T')}Z` : value,
        ]),
      ),
    );
  };
  let tables = 0;

  describeTransport('ClickHouse', () => ({
    open: openClickhouse,
    connection,
    nobody: { url: 'http://127.0.0.1:1', database: 'x', username: 'x', password: 'x' },
    async freshTarget() {
      const name = `events ${++tables}`;
      await query(
        `CREATE TABLE \`${name}\` (event_id String, event Nullable(String), total Nullable(Int32), CONSTRAINT positive CHECK total >= 0) ENGINE = ReplacingMergeTree ORDER BY event_id SETTINGS non_replicated_deduplication_window = 100`,
      );
      return name;
    },
    async stored(target) {
      return new Map((await rows(target)).map((row) => [String(row.event_id), row]));
    },
    badValues: { event: 'Order', total: -1 },
  }));
  describeTables('ClickHouse', () => ({
    open: openClickhouse,
    connection: connection(),
    dialect: CLICKHOUSE,
    exactlyOnce: true,
    oneRowPerUser: false,
    rows,
  }));

  testKills('ClickHouse', async () => {
    const eventIds = async () =>
      (await query('EXISTS TABLE killed')).trim() === '1' ? (await rows('killed', '')).map(({ event_id }) => String(event_id)) : [];
    return {
      vendor: 'clickhouse',
      config: { ...connection(), layout: 'payload', table: 'killed' },
      eventIds,
      exactlyOnce: true,
    };
  });

  test('a batch that comes again is not even stored twice before parts are merged', async () => {
    const transport = openClickhouse({ ...connection(), layout: 'segment', create_table: 'true' }, driverOptions());
    const batch = Array.from({ length: 50 }, (_, i) => trackRecord(`twice-${i}`, 'Twice', { n: i }));
    for (const _ of [1, 2, 3]) expect(await transport.send(batch, limits)).toEqual({ kind: 'delivered' });
    expect(await rows('twice', '')).toHaveLength(50);
    await transport.close();
  });
  test('a wrong password is unavailable, and the corrected one delivers', async () => {
    const wrong = openClickhouse({ ...connection(), password: 'wrong', create_table: 'true' }, driverOptions());
    expect(await wrong.send([record('late', 1)], limits)).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringContaining('clickhouse 516'),
    });
    const right = openClickhouse({ ...connection(), create_table: 'true' }, driverOptions());
    expect(await right.send([record('late', 1)], limits)).toEqual({ kind: 'delivered' });
  });
});
