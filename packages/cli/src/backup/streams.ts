import { createReadStream, readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Settings } from '@firsthand/server/config.ts';
import { JetStreamApi } from '@firsthand/server/stores/event-log/jetstream/api.ts';
import { restoreStream, type StreamHead, snapshotStream, streamsToBackUp } from '@firsthand/server/stores/event-log/jetstream/snapshots.ts';
import { connectNats } from '@firsthand/server/stores/event-log/jetstream.ts';
import { natsSecurity } from '@firsthand/server/stores/open-stores.ts';
import { CommandError } from '../failure.ts';
import { STREAMS_FILE } from './manifest.ts';

type NatsConnection = Awaited<ReturnType<typeof connectNats>>;

const TIMEOUT_MS = 30_000;
const CHUNK_BYTES = 131_072;

const snapshotFile = (folder: string, stream: string) => join(folder, `${stream}.snapshot`);

export async function copyStreams(settings: Settings, folder: string): Promise<{ streams: number; messages: number }> {
  return await withNats(settings, async (connection, api) => {
    const names = await streamsToBackUp(api);
    if (names.length === 0) throw new CommandError('NATS_URL: the server has no streams of Firsthand.');
    const heads: StreamHead[] = [];
    for (const name of names) {
      const file = await open(snapshotFile(folder, name), 'wx', 0o600);
      try {
        heads.push(await snapshotStream(connection, api, name, (chunk) => file.writeFile(chunk)));
        await file.sync();
      } finally {
        await file.close();
      }
    }
    writeFileSync(join(folder, STREAMS_FILE), `${JSON.stringify(heads, null, 2)}\n`, { mode: 0o600, flush: true });
    return { streams: heads.length, messages: heads.reduce((sum, { state }) => sum + state.messages, 0) };
  });
}

/** With the number of replicas that the settings of the new installation say. */
export async function restoreStreams(settings: Settings, folder: string): Promise<{ streams: number; messages: number }> {
  const heads = JSON.parse(readFileSync(join(folder, STREAMS_FILE), 'utf8')) as StreamHead[];
  return await withNats(settings, async (connection, api) => {
    const present = await streamsToBackUp(api);
    if (present.length > 0)
      throw new CommandError(
        `NATS_URL: the server has streams of Firsthand already (${present[0]}). Restore into an empty server, before the first process starts.`,
      );
    for (const head of heads) {
      const config = { ...head.config, num_replicas: settings.natsReplicas };
      const bytes = createReadStream(snapshotFile(folder, config.name), { highWaterMark: CHUNK_BYTES });
      await restoreStream(connection, api, { ...head, config }, bytes as AsyncIterable<Buffer>);
    }
    return { streams: heads.length, messages: heads.reduce((sum, { state }) => sum + state.messages, 0) };
  });
}

async function withNats<T>(settings: Settings, work: (connection: NatsConnection, api: JetStreamApi) => Promise<T>): Promise<T> {
  if (settings.natsUrl === undefined) throw new CommandError('NATS_URL is not set.');
  const connection = await connectNats(settings.natsUrl, { ...natsSecurity(settings), waits: false }).catch((error: Error) => {
    throw new CommandError(`NATS_URL: NATS cannot be reached: ${error.message}`);
  });
  try {
    return await work(connection, new JetStreamApi(connection, TIMEOUT_MS));
  } finally {
    await connection.close();
  }
}
