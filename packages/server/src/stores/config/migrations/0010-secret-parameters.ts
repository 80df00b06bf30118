import type { Migration } from './migration.ts';

/** Sealed values of secret pipeline parameters. Null: written before this column existed, so they are still in `parameters`. */
export const secretParameters: Migration = {
  id: 10,
  name: 'secret-parameters',
  sql: ({ text }) => [`alter table pipelines add column parameter_secrets ${text}`],
};
