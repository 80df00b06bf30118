/** Streams as files, by the snapshots of JetStream. They hold what the server stores, in its own compressed form. */
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { type JetStreamApi, JetStreamError, orNone, type StreamInfo } from './api.ts';

/** What a stream is created with again. Opaque but for these fields. */
export interface StreamHead {
  config: StreamInfo['config'] & { num_replicas: number };
  state: StreamInfo['state'];
}

/**
 * What a backup holds, in this order. A stream that names positions of another one comes before it: a cursor must never be ahead of its topic,
 * because the next records would count as settled. Patches come after the messages that they replace. Left out, because processes create them
 * again: journals, summaries of ids, leases and the canary.
 */
const ORDER = [
  /^firsthand_cursors_\d+$/,
  /^firsthand_retries$/,
  /^firsthand_other$/,
  /^firsthand_outcomes_\d+$/,
  /^firsthand_events_\d+$/,
  /^firsthand_ingest_\d+$/,
  /^KV_firsthand-visitors$/,
  /^firsthand_patches$/,
  /^firsthand_layout$/,
];
const SILENCE_MS = 30_000;
const CHUNK_BYTES = 131_072;
const DONE = 204;

export async function streamsToBackUp(api: JetStreamApi): Promise<string[]> {
  const names: string[] = [];
  for (;;) {
    const page = await api.call<{ total: number; streams: string[] | null }>('STREAM.NAMES', { offset: names.length });
    names.push(...(page.streams ?? []));
    if (names.length >= page.total || !page.streams?.length) break;
  }
  return ORDER.flatMap((kind) => names.filter((name) => kind.test(name)).sort());
}

/** Passes the bytes of the snapshot to `write`, which the server waits for. */
export async function snapshotStream(
  connection: NatsConnection,
  api: JetStreamApi,
  stream: string,
  write: (chunk: Uint8Array) => Promise<unknown>,
): Promise<StreamHead> {
  const deliver_subject = `_INBOX.firsthand-snapshot.${crypto.randomUUID()}`;
  const chunks = connection.subscribe(deliver_subject);
  const silence = setTimeout(() => chunks.unsubscribe(), SILENCE_MS);
  try {
    // The server sends nothing before it knows of the subscription.
    await connection.flush();
    const { config, state } = await api.call<StreamHead>(`STREAM.SNAPSHOT.${stream}`, {
      deliver_subject,
      no_consumers: true,
      chunk_size: CHUNK_BYTES,
    });
    for await (const message of chunks) {
      silence.refresh();
      if (message.data.length === 0) {
        requireDone(stream, message);
        return { config, state };
      }
      await write(message.data);
      message.respond();
    }
    throw new Error(`${stream}: the snapshot was interrupted`);
  } finally {
    clearTimeout(silence);
    chunks.unsubscribe();
  }
}
function requireDone(stream: string, { headers }: Msg): void {
  if (headers !== undefined && headers.code !== DONE)
    throw new Error(`${stream}: the snapshot failed: ${headers.code} ${headers.description}`);
}

/** Creates the stream from a snapshot. Throws if there is one of that name. */
export async function restoreStream(
  connection: NatsConnection,
  api: JetStreamApi,
  { config, state }: StreamHead,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  const { name } = config;
  // The server answers so only after it has all of the bytes.
  if (await orNone(api.call(`STREAM.INFO.${name}`))) throw new Error(`${name}: the server has a stream of this name`);
  const { deliver_subject } = await api.call<{ deliver_subject: string }>(`STREAM.RESTORE.${name}`, { config, state });
  const deliver = async (chunk?: Uint8Array) => {
    const text = (await connection.request(deliver_subject, chunk, { timeout: SILENCE_MS })).string();
    const { error } = (text === '' ? {} : JSON.parse(text)) as { error?: ConstructorParameters<typeof JetStreamError>[1] };
    if (error) throw new JetStreamError(`restore of ${name}`, error);
  };
  for await (const chunk of chunks) await deliver(chunk);
  await deliver();
}
