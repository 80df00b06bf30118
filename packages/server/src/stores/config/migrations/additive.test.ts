import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql, type TableMetadata } from 'kysely';
import { afterAll, expect, expectTypeOf, test } from 'vitest';
import { onBothEngines } from '../../../../test/servers/both-engines.ts';
import { migrate } from '../migrate.ts';
import { openUnmigrated } from '../open.ts';
import type { Db } from '../schema.ts';
import { ADDED_BY, type AddedBy, MIGRATIONS } from './index.ts';

test('a field of a resource without a migration does not compile', () => {
  type Given = (typeof ADDED_BY)['integrations'];
  expectTypeOf<Given>().toExtend<AddedBy['integrations']>();
  expectTypeOf<Omit<Given, 'max_in_flight'>>().not.toExtend<AddedBy['integrations']>();
});

/**
 * Statements of a program that does not know a migration go on working: it names columns, and inserts without those that it does not know.
 * So nothing may vanish or change its type, a new column must have a value without it, and no new rule may refuse its rows.
 */
onBothEngines('migrations that only add', (fresh, engine) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'firsthand-additive-'));
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  test('take nothing from the programs before them, and add the columns that ADDED_BY names', async () => {
    const { db, close } = openUnmigrated({ databaseUrl: await fresh(), dataDir });
    const added = new Map<string, string>();
    let before: Schema | undefined;
    for (const [i, { id, name, breaks }] of MIGRATIONS.entries()) {
      await migrate(db, engine, Date.now, MIGRATIONS.slice(0, i + 1));
      const after = await schemaOf(db, engine);
      if (before !== undefined && breaks !== true)
        expect({ migration: `${id} ${name}`, faults: faults(before, after) }).toMatchObject({ faults: [] });
      for (const table of after.tables.filter((each) => each.name in ADDED_BY))
        for (const column of table.columns.map((each) => `${table.name}.${each.name}`)) if (!added.has(column)) added.set(column, name);
      before = after;
    }
    const named = Object.entries(ADDED_BY).flatMap(([table, columns]) =>
      Object.entries(columns).map(([column, migration]) => [`${table}.${column}`, migration.name]),
    );
    expect(Object.fromEntries(added)).toEqual(Object.fromEntries(named));
    await close();
  });

  test.each([
    ['a column vanishes', 'alter table pipelines drop column parameters', ['pipelines.parameters is gone']],
    [
      'a column is renamed',
      'alter table pipelines rename column parameters to words',
      ['pipelines.parameters is gone', 'pipelines.words is required'],
    ],
    ['a table vanishes', 'drop table collector_builds', ['collector_builds is gone']],
    ['not if a column has a default', "alter table pipelines add column note text not null default ''", []],
    ['a unique index is added', 'create unique index one_name on pipelines (name)', ['pipelines: unique index one_name']],
  ])('are told apart from others: %s', async (_what, statement, expected) => {
    const { db, close } = openUnmigrated({ databaseUrl: await fresh(), dataDir: mkdtempSync(join(dataDir, 'other-')) });
    await migrate(db, engine, Date.now);
    const before = await schemaOf(db, engine);
    await sql.raw(statement).execute(db);
    expect(faults(before, await schemaOf(db, engine))).toEqual(expected);
    await close();
  });
});

interface Schema {
  tables: TableMetadata[];
  uniqueIndexes: UniqueIndex[];
}
interface UniqueIndex {
  owner: string;
  name: string;
  /** Separated by commas. */
  columns: string;
}
async function schemaOf(db: Db, engine: 'sqlite' | 'postgres'): Promise<Schema> {
  const query =
    engine === 'sqlite'
      ? sql<UniqueIndex>`select m.name as owner, i.name, (select group_concat(c.name) from pragma_index_info(i.name) c) as columns
          from sqlite_master m, pragma_index_list(m.name) i where m.type = 'table' and i."unique" = 1`
      : sql<UniqueIndex>`select t.relname as owner, i.relname as name, (select string_agg(a.attname, ',') from pg_attribute a
            where a.attrelid = t.oid and a.attnum = any(x.indkey)) as columns
          from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
          join pg_namespace n on n.oid = t.relnamespace where x.indisunique and n.nspname = current_schema()`;
  const { rows } = await query.execute(db);
  return { tables: await db.introspection.getTables(), uniqueIndexes: rows };
}

function faults(before: Schema, after: Schema): string[] {
  const found: string[] = [];
  for (const table of before.tables) {
    const now = after.tables.find(({ name }) => name === table.name);
    if (now === undefined) {
      found.push(`${table.name} is gone`);
      continue;
    }
    for (const column of table.columns) {
      const same = now.columns.find(({ name }) => name === column.name);
      if (same === undefined) found.push(`${table.name}.${column.name} is gone`);
      else if (same.dataType !== column.dataType) found.push(`${table.name}.${column.name} has another type`);
      else if (column.isNullable && !same.isNullable) found.push(`${table.name}.${column.name} is required`);
    }
    const known = new Set(table.columns.map(({ name }) => name));
    for (const { name, isNullable, hasDefaultValue } of now.columns)
      if (!known.has(name) && !isNullable && !hasDefaultValue) found.push(`${table.name}.${name} is required`);
    const indexes = new Set(before.uniqueIndexes.map(({ name }) => name));
    // With a column that the earlier program does not know, its rows have null there and never conflict.
    const isNull = (column: string) => !known.has(column) && now.columns.some(({ name, isNullable }) => name === column && isNullable);
    for (const { owner, name, columns } of after.uniqueIndexes)
      if (owner === table.name && !indexes.has(name) && !columns.split(',').some(isNull)) found.push(`${owner}: unique index ${name}`);
  }
  return found;
}
