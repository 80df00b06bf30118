import { MYSQL } from '@firsthand/core/tables/dialects.ts';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestServer } from '../../test/servers/index.ts';
import { findMariadb, startMariadb } from '../../test/servers/mariadb.ts';
import { openMysql } from './mysql.ts';
import { describeTransport, driverOptions, record } from './testing/conformance.ts';
import { testKills } from './testing/kills.ts';
import { describeTables, trackRecord } from './testing/tables-conformance.ts';

describe.skipIf(!findMariadb())('MariaDB (skipped without mariadb-server)', () => {
  let server: TestServer;
  let admin: mysql.Connection;
  beforeAll(async () => {
    server = await startMariadb();
    admin = await mysql.createConnection({ host: '127.0.0.1', port: server.port, user: 'root', timezone: 'Z', supportBigNumbers: true });
    await admin.query('create database test character set utf8mb4');
    await admin.query("create user firsthand identified by 'secret'");
    await admin.query('grant all on test.* to firsthand');
    await admin.query('use test');
  });
  afterAll(async () => {
    await admin.end();
    await server.stop();
  });
  const connection = () => ({
    host: '127.0.0.1',
    port: String(server.port),
    username: 'firsthand',
    password: 'secret',
    database: 'test',
    ssl: 'disable',
  });
  const booleans = new Set<string>();
  const rows = async (table: string) => {
    const [found, fields] = await admin.query<mysql.RowDataPacket[]>(`select * from \`${table.replaceAll('`', '``')}\``);
    booleans.clear();
    for (const { name, type, columnLength } of fields) if (type === 1 && columnLength === 1) booleans.add(name);
    return found.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([key, value]) => [
          key,
          value instanceof Date ? value.toISOString() : booleans.has(key) && value !== null ? value === 1 : value,
        ]),
      ),
    );
  };
  let tables = 0;

  testKills('MariaDB', async () => ({
    vendor: 'mysql',
    config: {
      host: '127.0.0.1',
      port: server.port,
      username: 'firsthand',
      password: 'secret',
      database: 'test',
      tls: 'disable',
      layout: 'payload',
      table: 'killed',
    },
    count: async () => {
      const [found] = await admin.query<mysql.RowDataPacket[]>("show tables like 'killed'");
      return found.length === 0 ? 0 : (await rows('killed')).length;
    },
    eventIds: async () => (await rows('killed')).map(({ event_id }) => String(event_id)),
    exactlyOnce: true,
  }));
  describeTransport('MariaDB', () => ({
    open: openMysql,
    connection,
    nobody: { host: '127.0.0.1', port: '1', username: 'x', database: 'x', ssl: 'disable' },
    async freshTarget() {
      const name = `events ${++tables}`;
      await admin.query(
        `create table \`${name}\` (event_id varchar(255) primary key, event text, total int check (total >= 0), more json)`,
      );
      return name;
    },
    async stored(target) {
      return new Map((await rows(target)).map((row) => [String(row.event_id), row]));
    },
    badValues: { event: 'Order', total: -1 },
  }));
  describeTables('MariaDB', () => ({
    open: openMysql,
    connection: connection(),
    dialect: MYSQL,
    exactlyOnce: true,
    oneRowPerUser: true,
    rows,
  }));

  test('a wrong password is unavailable, and the corrected one delivers', async () => {
    const wrong = openMysql({ ...connection(), password: 'wrong', create_table: 'true' }, driverOptions());
    expect(await wrong.send([record('late', 1)], { timeout_ms: 10_000 })).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringContaining('mysql 1045'),
    });
    await wrong.close();
    const right = openMysql({ ...connection(), create_table: 'true' }, driverOptions());
    expect(await right.send([record('late', 1)], { timeout_ms: 10_000 })).toEqual({ kind: 'delivered' });
    await right.close();
  });

  test('a server that restarts in the middle: the next attempt delivers, once', async () => {
    const transport = openMysql({ ...connection(), layout: 'segment', create_table: 'true' }, driverOptions());
    expect(await transport.send([trackRecord('restart-1', 'Restart', { n: 1 })], { timeout_ms: 10_000 })).toEqual({ kind: 'delivered' });
    await admin.end();
    await server.kill();
    expect(await transport.send([trackRecord('restart-2', 'Restart', { n: 2 })], { timeout_ms: 5_000 })).toMatchObject({
      kind: 'unavailable',
    });
    await server.restart();
    admin = await mysql.createConnection({ host: '127.0.0.1', port: server.port, user: 'root', timezone: 'Z', database: 'test' });
    for (const _ of [1, 2])
      expect(await transport.send([trackRecord('restart-2', 'Restart', { n: 2 })], { timeout_ms: 10_000 })).toEqual({ kind: 'delivered' });
    expect((await rows('restart')).filter(({ id }) => id === 'restart-2')).toHaveLength(1);
    await transport.close();
  });
});
