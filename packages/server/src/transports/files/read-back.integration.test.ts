/** Files read by DuckDB equal what was sent. Needs a Python with `duckdb`: the one in `DUCKDB_PYTHON`, or `python3`. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@firsthand/core/json.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { openEncoder } from './encoder.ts';
import type { EncodingOptions } from './encoding.ts';

const python = process.env.DUCKDB_PYTHON ?? 'python3';
const hasDuckDb = spawnSync(python, ['-c', 'import duckdb']).status === 0;

const SCRIPT = `
import duckdb, json, sys
path, query = sys.argv[1], sys.argv[2]
con = duckdb.connect()
con.execute("set timezone='UTC'")
cursor = con.execute(query.replace('FILE', "'" + path + "'"))
names = [column[0] for column in cursor.description]
print(json.dumps([dict(zip(names, row)) for row in cursor.fetchall()]))
`;

const ROWS: JsonObject[] = [
  {
    event_id: 'e1',
    type: 'track',
    event: 'Añadir 🛒 "quoted", with\ncomma and line',
    user_id: '',
    timestamp: '2026-01-31T13:05:00.123Z',
    context: { ip: '203.0.113.7' },
    properties: {
      total: 42.5,
      count: 9007199254740991,
      big_id: '18446744073709551616',
      ok: true,
      none: null,
      list: [1, [null, 'x']],
      name: 'ß漢字',
    },
  },
  {
    event_id: 'e2',
    type: 'page',
    name: 'Start',
    timestamp: '2026-01-31T23:59:59.000+02:00',
    context: {},
    properties: { total: -1, count: -5, ok: false, total_text: '007' },
  },
  {
    event_id: 'e3',
    type: 'identify',
    timestamp: '1999-12-31T00:00:00.000Z',
    context: {},
    traits: { 'E-Mail': 'a@b.c', born: '1980-02-29' },
  },
];
const PARQUET = 'select * replace (cast(timestamp as varchar) as timestamp) from read_parquet(FILE)';
const TIMES = ['2026-01-31 13:05:00.123+00', '2026-01-31 21:59:59+00', '1999-12-31 00:00:00+00'];

describe.skipIf(!hasDuckDb)('files read by DuckDB (needs the Python package duckdb)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'read-back-'));
  const encoder = openEncoder();
  afterAll(async () => {
    await encoder.close();
    rmSync(folder, { recursive: true, force: true });
  });
  let files = 0;
  async function readBack(options: EncodingOptions, ending: string, query: string, rows = ROWS): Promise<JsonObject[]> {
    const { bytes } = await encoder.encode(
      rows.map((row) => Buffer.from(JSON.stringify(row))),
      options,
    );
    const path = join(folder, `${++files}.${ending}`);
    writeFileSync(path, bytes);
    return JSON.parse(execFileSync(python, ['-c', SCRIPT, path, query]).toString()) as JsonObject[];
  }
  /** JSON columns come back as their text. */
  const parsed = (rows: JsonObject[]) =>
    rows.map((row) => ({
      ...row,
      ...Object.fromEntries(['context', 'properties', 'traits'].map((key) => [key, JSON.parse((row[key] as string | null) ?? 'null')])),
    }));
  const expected = ROWS.map((row, i) => ({
    ...Object.fromEntries(
      ['original_type', 'event', 'name', 'user_id', 'anonymous_id', 'group_id', 'properties', 'traits'].map((key) => [key, null]),
    ),
    ...row,
    timestamp: TIMES[i],
  }));

  test.each(['none', 'snappy', 'gzip', 'zstd'] as const)('Parquet with %s', async (compression) => {
    const rows = await readBack({ format: 'parquet', compression, flatten: false }, 'parquet', PARQUET);
    expect(parsed(rows)).toEqual(expected);
  });

  test('Parquet has the types of the values', async () => {
    const rows = await readBack(
      { format: 'parquet', compression: 'zstd', flatten: true },
      'parquet',
      'select column_name as name, column_type as type from (describe select * from read_parquet(FILE))',
    );
    const types = Object.fromEntries(rows.map(({ name, type }) => [name, type]));
    expect(types).toMatchObject({
      timestamp: 'TIMESTAMP WITH TIME ZONE',
      properties_total: 'DOUBLE',
      properties_count: 'BIGINT',
      properties_big_id: 'VARCHAR',
      properties_ok: 'BOOLEAN',
      properties_list: 'JSON',
      'traits_E-Mail': 'VARCHAR',
    });
  });

  test('Parquet with a column per property', async () => {
    const rows = await readBack({ format: 'parquet', compression: 'snappy', flatten: true }, 'parquet', PARQUET);
    expect(
      rows.map((row) => [row.properties_total, row.properties_count, row.properties_ok, row.properties_name, row['traits_E-Mail']]),
    ).toEqual([
      [42.5, 9007199254740991, true, 'ß漢字', null],
      [-1, -5, false, null, null],
      [null, null, null, null, 'a@b.c'],
    ]);
    expect(JSON.parse(String(rows[0]?.properties_list))).toEqual([1, [null, 'x']]);
  });

  const CSV = "select * from read_csv(FILE, all_varchar = true, allow_quoted_nulls = false, nullstr = '', quote = '\"', escape = '\"')";
  test.each([
    ['none', 'csv'],
    ['gzip', 'csv.gz'],
    ['zstd', 'csv.zst'],
  ] as const)('CSV with %s', async (compression, ending) => {
    const rows = parsed(await readBack({ format: 'csv', compression, flatten: false }, ending, CSV));
    expect(rows).toEqual(expected.map((row, i) => ({ ...row, timestamp: ROWS[i]?.timestamp })));
  });

  test.each([
    ['none', 'ndjson'],
    ['gzip', 'ndjson.gz'],
    ['zstd', 'ndjson.zst'],
  ] as const)('NDJSON with %s', async (compression, ending) => {
    const query = "select to_json(event) as event, json from (select json, json->>'event' as event from read_ndjson_objects(FILE))";
    const rows = await readBack({ format: 'ndjson', compression, flatten: false }, ending, query);
    expect(rows.map(({ json }) => JSON.parse(String(json)))).toEqual(ROWS);
  });

  test('ten thousand rows of every kind of value', async () => {
    const many = Array.from({ length: 10_000 }, (_, i) => ({
      id: i,
      text: `row ${i} ü`,
      half: i % 2 === 0 ? null : i / 2,
      nested: { i, list: [i] },
    }));
    const query =
      'select count(*) as rows, sum(id) as ids, sum(half) as halves, count(half) as odd, count(distinct text) as texts from read_parquet(FILE)';
    expect(await readBack({ format: 'parquet', compression: 'zstd', flatten: false }, 'parquet', query, many)).toEqual([
      { rows: 10_000, ids: 49_995_000, halves: 12_500_000, odd: 5_000, texts: 10_000 },
    ]);
  });
});
