import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openGeo } from './geo.ts';

/** The smallest database there can be: every address that begins with 0 (0.0.0.0/1) has one record, the others none. */
function database(record: Record<string, unknown>): Buffer {
  const data = encode(record);
  const nodes = 1;
  // Left: the first data record, which counts from the tree's end plus 16 bytes; right: nothing.
  const tree = Buffer.alloc(6);
  tree.writeUIntBE(nodes + 16, 0, 3);
  tree.writeUIntBE(nodes, 3, 3);
  const meta = encode({
    node_count: nodes,
    record_size: 24,
    ip_version: 4,
    database_type: 'Test-City',
    languages: ['en'],
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_700_000_000,
    description: { en: 'test' },
  });
  return Buffer.concat([tree, Buffer.alloc(16), data, Buffer.from([0xab, 0xcd, 0xef]), Buffer.from('MaxMind.com'), meta]);
}
function encode(value: unknown): Buffer {
  if (typeof value === 'string') return Buffer.concat([control(2, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Number.isInteger(value)) return Buffer.concat([control(6, 4), uint32(value as number)]);
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleBE(value);
    return Buffer.concat([control(3, 8), bytes]);
  }
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(encode)]);
  const entries = Object.entries(value as object);
  return Buffer.concat([control(7, entries.length), ...entries.flatMap(([key, inner]) => [encode(key), encode(inner)])]);
}
function control(type: number, size: number): Buffer {
  const small = size < 29 ? [size] : [29, size - 29];
  return type <= 7 ? Buffer.from([(type << 5) | small[0]!, ...small.slice(1)]) : Buffer.from([small[0]!, type - 7, ...small.slice(1)]);
}
function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'firsthand-geo-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

test('an address that the database knows, and those it does not', async () => {
  const path = join(dir, 'city.mmdb');
  await writeFile(
    path,
    database({
      continent: { code: 'EU' },
      country: { iso_code: 'DE', names: { en: 'Germany', de: 'Deutschland' } },
      subdivisions: [{ iso_code: 'BE', names: { en: 'Land Berlin' } }],
      city: { names: { en: 'Berlin' } },
      postal: { code: '10115' },
      location: { latitude: 52.53, longitude: 13.38, time_zone: 'Europe/Berlin' },
    }),
  );
  const geo = await openGeo(path);
  if (!geo.ok) throw new Error(geo.fault);
  const berlin = {
    continent: 'EU',
    country: 'DE',
    country_name: 'Germany',
    region: 'BE',
    region_name: 'Land Berlin',
    city: 'Berlin',
    postal_code: '10115',
    latitude: 52.53,
    longitude: 13.38,
    timezone: 'Europe/Berlin',
  };
  expect(geo.lookup('10.1.2.3')).toEqual(berlin);
  expect(geo.lookup('10.1.2.3')).toEqual(berlin);
  expect(geo.lookup('::ffff:10.1.2.3')).toEqual(berlin);
  for (const other of ['203.0.113.1', '2001:db8::1', 'nonsense', '', '999.1.1.1']) expect(geo.lookup(other)).toBeUndefined();
});

test('an invalid file is reported as a fault of the setting, in one line', async () => {
  const path = join(dir, 'bad.mmdb');
  await writeFile(path, 'this is no database');
  for (const one of [path, join(dir, 'missing.mmdb')]) {
    const geo = await openGeo(one);
    expect(geo.ok ? '' : geo.fault).toMatch(/^GEOIP_DB: "[^\n]+$/);
  }
});
