/** Creates the parts of the log, and says which uses which. */

import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '../../../runtime/clock.ts';
import { inTurn } from '../../../runtime/in-turn.ts';
import type { EventLog } from '../port.ts';
import { JetStreamApi } from './api.ts';
import { Appender } from './append.ts';
import { Canary } from './canary.ts';
import { maxPayloadOf } from './connection.ts';
import type { ConsumerDeps } from './consumer.ts';
import { CursorStore } from './cursor-store.ts';
import { DirectGet } from './direct-get.ts';
import { Feeds } from './feeds.ts';
import { IdSummaries } from './id-summaries.ts';
import { Journal } from './journal.ts';
import { CANARY_STREAM, CANARY_SUBJECT, Layout } from './names.ts';
import { Patches } from './patches.ts';
import { NoStream, Publisher } from './publisher.ts';
import { Reader } from './reader.ts';
import { IdScanner } from './scan-ids.ts';
import { Streams } from './streams.ts';
import { Ticks } from './ticks.ts';
import { Upkeep } from './upkeep.ts';

export interface JetStreamLogSettings {
  connection: NatsConnection;
  dedupWindowMs: number;
  replicas: number;
  streams: number;
  clock: Clock;
  onClose?: () => void;
  onError?: (error: unknown, where: { topic: string; group: string }) => void;
  onWarning?: (message: string, error?: unknown) => void;
}
/** What the parts need of the log itself. */
interface OfLog {
  append: EventLog['append'];
  isClosed: () => boolean;
}
export type Parts = ReturnType<typeof createParts>;

const PUBLISH_TIMEOUT_MS = 2_000;
/** Without the journal the cursor is stored at once, so a broker that hangs must not hold settlements up for long. */
const JOURNAL_TIMEOUT_MS = 700;
/** Nothing waits for a summary of ids. */
const ID_TIMEOUT_MS = 10_000;
/** How late stored cursors and the appends before them may be. The journal has them. */
const CURSOR_TICK_MS = 200;
/** The same under load, where the results of a record that comes again are dropped. */
const BUSY_TICK_MS = 1_000;
/** The same where the consumer skips what comes again. */
const LATE_TICK_MS = 2_000;
const API_TIMEOUT_MS = 2_500;
const STARTS_AT_ONCE = 64;

export function createParts(settings: JetStreamLogSettings, { append, isClosed }: OfLog) {
  const { clock, connection, dedupWindowMs: windowMs, replicas } = settings;
  const monotonic = () => clock.monotonic();
  // Wall time at start, monotonic clock afterwards: a clock jump does not move retries.
  const offset = clock.now() - monotonic();
  const now = () => Math.floor(offset + clock.monotonic());
  const maxPayload = () => maxPayloadOf(connection);
  const onWarning = (message: string, error: unknown) => settings.onWarning?.(message, error);
  const onError = (error: unknown) => settings.onError?.(error, { topic: '', group: '' });

  const layout = new Layout(settings.streams);
  const api = new JetStreamApi(connection, API_TIMEOUT_MS);
  const streams = new Streams(api, replicas);
  const publisher = new Publisher(connection, PUBLISH_TIMEOUT_MS, (stored) => canary.heard(stored));
  const journalPublisher = new Publisher(connection, JOURNAL_TIMEOUT_MS, () => {});
  const idPublisher = new Publisher(connection, ID_TIMEOUT_MS, () => {});
  const canary = new Canary({ write: () => writeCanary(streams, publisher), monotonic });
  const scanner = new IdScanner(api, connection);
  const direct = new DirectGet(connection, api);
  const patches = new Patches({ api, direct, publisher, streams, maxPayload });
  const cursors = new CursorStore({ api, layout, streams, publisher });
  const journal = new Journal({ api, layout, streams, direct, publisher: journalPublisher, monotonic, onWarning });
  const summaries = new IdSummaries({ streams, direct, scanner, publisher: idPublisher, windowMs });
  const feeds = new Feeds({ connection, api, streams, summaries, direct, windowMs, now, onError, onWarning });
  const reader = new Reader(direct, patches);
  const upkeep = new Upkeep({ api, cursors, direct, journal, patches, reader });
  const appender = new Appender({ connection, layout, streams, publisher, scanner, windowMs, now });
  const consumerDeps: Omit<ConsumerDeps, 'persist' | 'onError' | 'onStopped'> = {
    startInTurn: inTurn(STARTS_AT_ONCE),
    refreshIds: () => appender.refreshIds(),
    api,
    streams,
    direct,
    publisher,
    summaries,
    patches,
    cursors,
    journal,
    ticks: {
      seen: new Ticks(CURSOR_TICK_MS),
      dropped: new Ticks(CURSOR_TICK_MS, BUSY_TICK_MS),
      skipped: new Ticks(LATE_TICK_MS),
    },
    feeds,
    windowMs,
    now,
    maxPayload,
    isClosed,
    append,
  };
  const publishers = [publisher, journalPublisher, idPublisher];
  return { layout, api, streams, publishers, canary, direct, cursors, feeds, reader, upkeep, appender, consumerDeps };
}

async function writeCanary(streams: Streams, publisher: Publisher): Promise<void> {
  await streams.ensureCanary();
  await publisher.publish(CANARY_SUBJECT, new Uint8Array(), undefined).catch((error: unknown) => {
    if (error instanceof NoStream) streams.forget(CANARY_STREAM);
    throw error;
  });
}
