import { expect, test } from 'vitest';
import type { Role } from '../config.ts';
import { readiness } from './health.ts';

const well = { log: true, database: true, snapshot: true, stopping: false };
test.each<[string, Role[], Partial<typeof well>, number, string[]]>([
  ['all well', ['admin', 'ingest', 'process', 'deliver'], {}, 200, []],
  ['a lost database only degrades', ['admin', 'ingest'], { database: false }, 200, ['database']],
  ['except where there is only admin', ['admin'], { database: false }, 503, ['database']],
  ['no log, no ingest', ['ingest'], { log: false }, 503, ['log']],
  ['no snapshot, no delivery', ['deliver'], { snapshot: false }, 503, ['snapshot']],
  ['admin alone can do without the log', ['admin'], { log: false }, 200, ['log']],
  ['a stopping process takes no more', ['ingest'], { stopping: true }, 503, []],
])('readiness: %s', (_name, roles, wrong, status, degraded) => {
  const state = { ...well, ...wrong };
  const answer = readiness({
    roles: new Set(roles),
    logAvailable: () => state.log,
    databaseAvailable: () => state.database,
    snapshotLoaded: () => state.snapshot,
    stopping: () => state.stopping,
  });
  expect([answer.status, answer.body.degraded]).toEqual([status, degraded]);
});
