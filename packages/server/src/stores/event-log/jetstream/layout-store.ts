import { headers, type NatsConnection } from '@nats-io/transport-node';
import { DEFAULT_PARTITIONS, type PartitionEpoch, withPartitions } from '../../../partition.ts';
import { LogUnavailable } from '../port.ts';
import { failureOf, JetStreamApi, orNone } from './api.ts';
import { persistAtStart } from './at-start.ts';
import { checkEarlierLayout, type EarlierLayout, readEarlierLayout } from './earlier-layout.ts';

/** How the installation is laid out. All processes must agree on it, so it is stored beside the data. */
export interface StoredLayout {
  /** Streams per busy topic family. Fixed. */
  streams: number;
  partitions: readonly PartitionEpoch[];
}
export interface LayoutOptions {
  replicas: number;
  /** For a new installation. */
  streams: number;
  /** A higher number than the stored one raises it. Undefined leaves it. */
  partitions: number | undefined;
  onWarning?: ((message: string, error?: unknown) => void) | undefined;
}

const STREAM = 'firsthand_layout';
const SUBJECT = 'firsthand-layout';
const TIMEOUT_MS = 2_500;
const WRONG_LAST = 10_071;
/** Every running process knows of a change after this time. */
const SWITCH_AFTER_MS = 30_000;
const WATCH_MS = 5_000;
/** Batches of messages are read without a consumer, which servers can since this release. */
const OLDEST_SERVER = [2, 11] as const;

/** Reads the layout and stores its changes. Waits until JetStream answers. */
export async function openLayout(connection: NatsConnection, options: LayoutOptions): Promise<StoredLayout> {
  checkVersion(connection.info?.version ?? '');
  const api = new JetStreamApi(connection, TIMEOUT_MS);
  for (;;) {
    const layout = await persistAtStart(connection, () => storeLayout(api, connection, options), options.onWarning);
    if (layout) return layout;
  }
}
/** Undefined if another process wrote first. */
async function storeLayout(api: JetStreamApi, connection: NatsConnection, options: LayoutOptions): Promise<StoredLayout | undefined> {
  await ensureStream(api, options.replicas);
  const stored = await readLayout(api);
  if (!stored) await checkEarlierLayout(api, options.onWarning);
  const { layout, refused } = nextLayout(stored?.layout, options);
  if (layout !== stored?.layout && !(await writeLayout(connection, layout, stored?.revision ?? 0))) return undefined;
  if (refused !== undefined) options.onWarning?.(refused);
  return layout;
}

/** Streams of an earlier release whose records this one does not read. None once this release has started. Changes nothing. */
export async function earlierLayout(connection: NatsConnection): Promise<EarlierLayout> {
  const api = new JetStreamApi(connection, TIMEOUT_MS);
  return (await readLayout(api)) ? { streams: [], waiting: 0 } : await readEarlierLayout(api);
}

function nextLayout(stored: StoredLayout | undefined, options: LayoutOptions): { layout: StoredLayout; refused?: string } {
  const { streams, partitions } = options;
  if (!stored) return { layout: { streams, partitions: [{ count: partitions ?? DEFAULT_PARTITIONS, from: 0 }] } };
  if (partitions === undefined) return { layout: stored };
  const { epochs, refused } = withPartitions(stored.partitions, partitions, Date.now() + SWITCH_AFTER_MS);
  if (refused !== undefined) return { layout: stored, refused: `PARTITIONS: ${refused}` };
  return { layout: epochs === stored.partitions ? stored : { ...stored, partitions: epochs } };
}

/** Calls back with the layout again and again. A failed read is repeated with the next turn. */
export function watchLayout(connection: NatsConnection, read: (layout: StoredLayout) => void): { stop(): void } {
  const api = new JetStreamApi(connection, TIMEOUT_MS);
  const timer = setInterval(() => {
    readLayout(api).then(
      (stored) => stored && read(stored.layout),
      () => undefined,
    );
  }, WATCH_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

function checkVersion(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_SERVER;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  throw new Error(`nats-server ${version} is too old, ${OLDEST_SERVER.join('.')} or newer is needed`);
}

async function ensureStream(api: JetStreamApi, replicas: number): Promise<void> {
  if (await orNone(api.streamInfo(STREAM))) return;
  await api.createStream(STREAM, [SUBJECT], replicas, { discard: 'old', max_msgs_per_subject: 1 });
}

async function readLayout(api: JetStreamApi): Promise<{ layout: StoredLayout; revision: number } | undefined> {
  const found = await orNone(api.call<{ message: { seq: number; data?: string } }>(`STREAM.MSG.GET.${STREAM}`, { last_by_subj: SUBJECT }));
  if (!found) return undefined;
  const layout = JSON.parse(Buffer.from(found.message.data ?? '', 'base64').toString()) as StoredLayout;
  return { layout, revision: found.message.seq };
}

/** False if another process wrote first. */
async function writeLayout(connection: NatsConnection, layout: StoredLayout, revision: number): Promise<boolean> {
  const meta = headers();
  meta.set('Nats-Expected-Last-Subject-Sequence', String(revision));
  let text: string;
  try {
    text = (await connection.request(SUBJECT, JSON.stringify(layout), { headers: meta, timeout: TIMEOUT_MS })).string();
  } catch (error) {
    throw new LogUnavailable(`the layout cannot be stored: ${(error as Error).message}`, { cause: error });
  }
  const { error } = JSON.parse(text) as { error?: { code: number; err_code: number; description: string } };
  if (error?.err_code === WRONG_LAST) return false;
  if (error) throw failureOf('layout', error);
  return true;
}
