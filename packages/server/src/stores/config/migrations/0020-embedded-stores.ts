import type { Migration } from './migration.ts';

/** The stores beside `config.sqlite`, by file, so that a lost one is noticed. An installation of an earlier version has them if it has an organisation. */
export const embeddedStores: Migration = {
  id: 20,
  name: 'embedded-stores',
  sql: ({ engine, text }) => [
    `create table embedded_stores (name ${text} primary key, noted_at ${text} not null)`,
    ...(engine === 'sqlite'
      ? ['observe.sqlite', 'log/data.mdb'].map(
          (name) => `insert into embedded_stores select '${name}', min(created_at) from organisations having count(*) > 0`,
        )
      : []),
  ],
};
