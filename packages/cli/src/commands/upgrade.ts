import type { Settings } from '@firsthand/server/config.ts';
import { schemaStatus } from '@firsthand/server/stores/config/migrate.ts';
import { openUnmigrated } from '@firsthand/server/stores/config/open.ts';
import { connectNats, earlierLayout } from '@firsthand/server/stores/event-log/jetstream.ts';
import { kyselyWriter } from '@firsthand/server/stores/observe/kysely-writer.ts';
import { connectObserve } from '@firsthand/server/stores/observe/open.ts';
import { indexesByHand } from '@firsthand/server/stores/observe/schema.ts';
import { natsSecurity } from '@firsthand/server/stores/open-stores.ts';
import { VERSION } from '@firsthand/server/version.ts';
import { CommandError } from '../failure.ts';
import { namingDatabase, print, requireInstallation, settingsOrFail } from '../installation.ts';
import { readOptions } from '../options.ts';

/** Migrations run at the start of the new version; this command only says what they will do, and what the operator must do. */
export async function upgrade(args: string[]): Promise<void> {
  const { check } = readOptions(args, { required: [], flags: ['check'] });
  if (!check) throw new CommandError('Migrations run when the new version starts. Use firsthand upgrade --check to see what it will do.');
  const settings = settingsOrFail();
  requireInstallation(settings);
  await namingDatabase(settings, () => report(settings));
}

async function report(settings: Settings): Promise<void> {
  const { databaseUrl, dataDir } = settings;
  const store = openUnmigrated({ databaseUrl, dataDir });
  try {
    const status = await schemaStatus(store.db);
    const { streams, waiting } = await earlierStreams(settings);
    print({
      version: VERSION,
      ...status,
      rolling: status.rolling && streams.length === 0,
      create_indexes: await missingIndexes(settings),
      earlier_streams: streams,
      unsettled_records: waiting,
    });
    if (!status.starts)
      throw new CommandError(
        `The database is at schema ${status.schema}, this version knows ${status.known} and does not run on it: install the newer version.`,
      );
    if (waiting > 0)
      throw new CommandError(
        `NATS holds ${waiting} records that an earlier release has not processed or delivered, and this version does not start before they are: see docs/guides/operations/upgrade.md`,
      );
  } finally {
    await store.close();
  }
}

async function earlierStreams(settings: Settings): Promise<{ streams: string[]; waiting: number }> {
  if (settings.natsUrl === undefined) return { streams: [], waiting: 0 };
  const connection = await connectNats(settings.natsUrl, { ...natsSecurity(settings), waits: false }).catch((error: Error) => {
    throw new CommandError(`NATS_URL: NATS cannot be reached: ${error.message}`);
  });
  try {
    return await earlierLayout(connection);
  } finally {
    await connection.close();
  }
}

async function missingIndexes({ databaseUrl, dataDir }: Settings): Promise<string[]> {
  if (databaseUrl === undefined) return [];
  const observe = connectObserve({ databaseUrl, dataDir, onConnectionError: () => {} });
  try {
    return await indexesByHand(kyselyWriter(observe));
  } finally {
    await observe.db.destroy();
  }
}
