/**
 * Reads one source: receive, convert, append, acknowledge. A message is acknowledged only when its event, or its rejection, is on
 * disk. A failure of the broker or the log closes the connection; the next one starts at the first unacknowledged message, and the
 * derived event ids make repeats harmless.
 */

import { WEBHOOK_REJECTED } from '@firsthand/core/outcome/outcome.ts';
import type { SourceStatus } from '../../../channels.ts';
import { type Converted, convertInTurns, convertWebhook, isLargeWebhook } from '../../../intake/webhook/convert.ts';
import { outcomeAppend } from '../../../outcomes/outcome-log.ts';
import { errorText } from '../../../runtime/error-text.ts';
import { turns } from '../../../runtime/turns.ts';
import type { IngestRules } from '../../../snapshot/ingest-rules.ts';
import type { CompiledWebhookSource } from '../../../snapshot/webhook-source.ts';
import { type Append, RecordTooLarge } from '../../../stores/event-log/port.ts';
import type { Consumer, SourceMessage } from '../../../transports/consumers/port.ts';
import type { IngestContext } from '../deps.ts';
import { appendsOf, duplicatesOf } from '../store.ts';
import { webhookDeadLetter } from '../webhook/dead-letter.ts';

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;
const LAG_EVERY_MS = 5_000;
const LAG_TIMEOUT_MS = 5_000;
const MAX_BODY = 1_048_576;
/** A source that must wait asks again after this time at the latest: its limit may have been raised. */
const MAX_WAIT_MS = 1_000;
const FAIR_WAIT_MS = 100;

export type LoopContext = Pick<
  IngestContext,
  'log' | 'snapshots' | 'counts' | 'tap' | 'clock' | 'logger' | 'settings' | 'digestSecret' | 'limiter' | 'fairAdmission'
>;

export class ConsumerLoop {
  readonly compiled: CompiledWebhookSource;
  readonly #ctx: LoopContext;
  readonly #open: () => Promise<Consumer>;
  readonly #stopping = Promise.withResolvers<void>();
  readonly #done: Promise<void>;
  #stopped = false;
  #consumer: Consumer | undefined;
  /** The pipeline's limit was charged for the first message of the next `receive`. */
  #charged = false;
  #lagReadAt = Number.NEGATIVE_INFINITY;
  #status: Omit<SourceStatus, 'webhook_source_id'> = { state: 'connecting', lag: null, last_error: null, last_message_at: null };

  constructor(ctx: LoopContext, compiled: CompiledWebhookSource, open: () => Promise<Consumer>) {
    this.#ctx = ctx;
    this.compiled = compiled;
    this.#open = open;
    this.#done = this.#run();
  }

  get status(): SourceStatus {
    return { webhook_source_id: this.compiled.source.id, ...this.#status };
  }
  /** The messages in hand are stored and acknowledged first. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stopping.resolve();
    await this.#done;
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#stopped) {
      try {
        this.#consumer ??= await this.#connect();
        if (this.#consumer && (await this.#turn(this.#consumer))) failures = 0;
      } catch (error) {
        if (this.#stopped) break;
        await this.#close();
        this.#failed(error);
        // Doubles up to half a minute, so that a broker that comes back is not met by everybody at once.
        await this.#pause(Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures++, 5)));
      }
    }
    await this.#close();
  }

  /** Undefined where the loop was stopped meanwhile. */
  async #connect(): Promise<Consumer | undefined> {
    const opening = this.#open();
    const consumer = await Promise.race([opening, this.#stopping.promise]);
    // The loop has stopped waiting for this connection.
    if (!consumer) opening.then((late) => late.close()).catch(() => undefined);
    return consumer ?? undefined;
  }

  /** False where the loop only waited, or was stopped while it waited for messages. */
  async #turn(consumer: Consumer): Promise<boolean> {
    // Before messages are received, not after it: the broker would deliver them again while they wait here.
    const wait = this.#waitMs();
    if (wait > 0) {
      await this.#pause(Math.min(wait, MAX_WAIT_MS));
      await this.#readLag(consumer);
      return false;
    }
    const receiving = consumer.receive();
    const messages = await Promise.race([receiving, this.#stopping.promise]);
    if (messages === undefined) {
      receiving.catch(() => undefined);
      return false;
    }
    this.#status = { ...this.#status, state: 'running', last_error: null };
    const rules = this.#rules;
    if (messages.length > 0 && rules) {
      this.#charge(messages, rules);
      await this.#store(messages, rules);
      await consumer.acknowledge();
      this.#status = { ...this.#status, last_message_at: new Date(this.#ctx.clock.now()).toISOString() };
    }
    await this.#readLag(consumer);
    return true;
  }

  get #rules(): IngestRules | undefined {
    return this.#ctx.snapshots.current().pipelines.get(this.compiled.source.pipeline_id)?.ingest;
  }
  /** Milliseconds until the limits of the pipeline and the organisation admit another `receive`. */
  #waitMs(): number {
    const rules = this.#rules;
    if (rules === undefined) return 0;
    if (!this.#charged) {
      const wait = this.#ctx.limiter.take(rules.pipelineId, rules.rate);
      if (wait > 0) return wait;
      this.#charged = true;
    }
    return this.#ctx.fairAdmission.refuses(rules.orgId) ? FAIR_WAIT_MS : 0;
  }
  #charge(messages: SourceMessage[], { orgId, pipelineId, rate }: IngestRules): void {
    this.#charged = false;
    this.#ctx.limiter.charge(pipelineId, rate, messages.length - 1);
    this.#ctx.fairAdmission.charge(
      orgId,
      messages.length,
      messages.reduce((sum, { body }) => sum + body.length, 0),
    );
  }

  async #store(messages: SourceMessage[], rules: IngestRules): Promise<void> {
    const { log, counts, clock } = this.#ctx;
    const receivedAt = clock.now();
    const records = [];
    const rejected: Append[] = [];
    for (const message of messages) {
      const turn = turns.bulk();
      if (turn !== undefined) await turn;
      const converted = await this.#convert(message, rules, receivedAt);
      if (converted.ok) records.push(...converted.records);
      else rejected.push(this.#reject(message, converted.reason, receivedAt));
    }
    const appends = appendsOf(records);
    try {
      const results = await log.append([...appends, ...rejected]);
      const duplicates = duplicatesOf(records, results.slice(0, appends.length));
      counts.accepted(records.length, duplicates.filter(Boolean).length, rules.orgId, rules.pipelineId);
      this.#show(records, duplicates, rules);
    } catch (error) {
      // One message is larger than the log takes: reject that one, and store the others.
      if (!(error instanceof RecordTooLarge)) throw error;
      if (messages.length > 1) for (const message of messages) await this.#store([message], rules);
      else await log.append(messages.map((message) => this.#reject(message, 'The event is too large for the event log.', receivedAt)));
    }
  }

  #convert({ id, headers, query, body }: SourceMessage, rules: IngestRules, receivedAt: number): Converted | Promise<Converted> {
    if (body.length > MAX_BODY) return { ok: false, reason: `The message has more than ${MAX_BODY} bytes.` };
    const digest = `${this.compiled.source.id}/${id}`;
    const request = { headers, query, body, receivedAt, urls: [], digest };
    return isLargeWebhook(request) ? convertInTurns(this.compiled, rules, request) : convertWebhook(this.compiled, rules, request);
  }

  /** Kept as a dead letter of stage `webhook`, once, however often the message is delivered. */
  #reject({ id, headers, query, body }: SourceMessage, reason: string, receivedAt: number): Append {
    const { source } = this.compiled;
    const { digestSecret, settings } = this.#ctx;
    const request = { headers, query, urls: [], body, unpacked: undefined, receivedAt };
    const outcome = webhookDeadLetter(this.compiled, request, reason, { digestSecret, retentionMs: settings.deadLetterRetentionMs });
    this.#ctx.counts.rejected(WEBHOOK_REJECTED, undefined);
    this.#ctx.logger.info({ webhook_source_id: source.id, dead_letter_id: outcome.dead_letter.id, reason }, 'message rejected');
    return outcomeAppend(this.#ctx.log, source.id, `source/${source.id}/${id}`, [outcome]);
  }

  #show(records: { eventId: string }[], duplicates: boolean[], { orgId, pipelineId }: IngestRules): void {
    const { tap } = this.#ctx;
    if (!tap.watched(orgId)) return;
    for (const [at, { eventId }] of records.entries()) {
      if (duplicates[at]) continue;
      const payload = { webhook_source_id: this.compiled.source.id };
      tap.emit(orgId, { stage: 'received', pipeline_id: pipelineId, event_id: eventId, type: 'track', payload });
    }
  }

  async #readLag(consumer: Consumer): Promise<void> {
    const now = this.#ctx.clock.monotonic();
    if (now - this.#lagReadAt < LAG_EVERY_MS) return;
    this.#lagReadAt = now;
    // The lag is only shown: a broker that does not report it does not stop the source.
    const lag = await Promise.race([consumer.lag().catch(() => null), later(LAG_TIMEOUT_MS)]);
    this.#status = { ...this.#status, lag };
  }

  #failed(error: unknown): void {
    const last_error = errorText(error);
    const { id, kind } = this.compiled.source;
    if (this.#status.last_error !== last_error)
      this.#ctx.logger.warn({ webhook_source_id: id, kind, reason: last_error }, 'source unavailable, retrying');
    this.#status = { ...this.#status, state: 'failing', last_error };
  }
  async #close(): Promise<void> {
    const consumer = this.#consumer;
    this.#consumer = undefined;
    await consumer?.close();
  }
  #pause(ms: number): Promise<void> {
    const timer = Promise.withResolvers<void>();
    const timeout = setTimeout(timer.resolve, ms);
    return Promise.race([timer.promise, this.#stopping.promise]).finally(() => clearTimeout(timeout));
  }
}

function later(ms: number): Promise<null> {
  return new Promise((resolve) => setTimeout(resolve, ms, null).unref());
}
