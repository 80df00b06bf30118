/** `POST /v1/webhook`: always 200, except where nothing can be stored. */
import { type RejectionCode, WEBHOOK_REJECTED } from '@firsthand/core/outcome/outcome.ts';
import type { IngestRecord } from '../../../intake/ingest-record.ts';
import { isGzip, unpack } from '../../../intake/parse-body.ts';
import {
  type Converted,
  convertInTurns,
  convertWebhook,
  headersOf,
  isLargeWebhook,
  MAX_WEBHOOK_BYTES,
  queryOf,
} from '../../../intake/webhook/convert.ts';
import { sourceUrls } from '../../../intake/webhook/urls.ts';
import { outcomeAppend } from '../../../outcomes/outcome-log.ts';
import type { IngestRules } from '../../../snapshot/ingest-rules.ts';
import type { CompiledWebhookSource } from '../../../snapshot/webhook-source.ts';
import { type Exchange, OVERLOADED } from '../exchange.ts';
import { logAppendFailure, store } from '../store.ts';
import { webhookDeadLetter } from './dead-letter.ts';

export function receiveWebhook(exchange: Exchange): void {
  const { ctx, query } = exchange;
  if (ctx.capacity.isFull) {
    exchange.reject(OVERLOADED);
    return;
  }
  const id = new URLSearchParams(query ?? '').get('source') ?? '';
  const source = ctx.snapshots.current().webhookSources.get(id);
  // The messages of a broker carry no signature: nobody may send them here.
  if (source === undefined || source.source.kind !== 'webhook') {
    ctx.counts.rejected('unknown_source', undefined);
    ctx.logger.debug({ webhook_source_id: id.slice(0, 64) }, 'webhook for an unknown source');
    exchange.succeed(undefined);
    return;
  }
  if (!source.source.enabled) {
    ignore(exchange, source, 'source_disabled');
    return;
  }
  exchange.read(
    MAX_WEBHOOK_BYTES,
    (_exchange, body) => {
      if (!ctx.turnShares.run(source.source.org_id, body.length, () => inTurn(exchange, source, body))) exchange.reject(OVERLOADED);
    },
    () => ignore(exchange, source, 'payload_too_large'),
  );
}

function inTurn(exchange: Exchange, source: CompiledWebhookSource, body: Buffer): void {
  try {
    if (!exchange.finished) onBody(exchange, source, body);
  } catch (error) {
    exchange.fail(error);
  }
}

function onBody(exchange: Exchange, source: CompiledWebhookSource, body: Buffer): void {
  if (!isGzip(body)) {
    accept(exchange, source, body, undefined);
    return;
  }
  Promise.resolve(unpack(body, MAX_WEBHOOK_BYTES))
    .then((unpacked) => {
      if (unpacked.ok) {
        if (exchange.hold(unpacked.bytes.length)) accept(exchange, source, body, unpacked.bytes);
      } else if (unpacked.rejection.code === 'payload_too_large') ignore(exchange, source, 'payload_too_large');
      else keepRejected(exchange, source, body, undefined, 'The body is not valid gzip.');
    })
    .catch((error: unknown) => exchange.fail(error));
}

function accept(exchange: Exchange, source: CompiledWebhookSource, body: Buffer, unpacked: Buffer | undefined): void {
  const { ctx, req } = exchange;
  const { pipeline_id } = source.source;
  const rules = ctx.snapshots.current().pipelines.get(pipeline_id)?.ingest;
  if (rules === undefined || !rules.enabled) {
    ignore(exchange, source, 'pipeline_disabled');
    return;
  }
  exchange.rules = rules;
  const request = {
    headers: headersOf(req.headers),
    query: queryOf(exchange.query),
    body,
    ...(unpacked === undefined ? {} : { unpacked }),
    receivedAt: exchange.receivedAt,
    urls: urlsOf(exchange, source),
  };
  const onConverted = (converted: Converted): void => {
    const reject = (reason: string) => keepRejected(exchange, source, body, unpacked, reason);
    if (converted.ok) storeRecords(exchange, source, rules, converted.records, () => reject(TOO_LARGE));
    else reject(converted.reason);
  };
  if (!isLargeWebhook(request)) {
    onConverted(convertWebhook(source, rules, request));
    return;
  }
  convertInTurns(source, rules, request)
    .then(onConverted)
    .catch((error: unknown) => exchange.fail(error));
}

/** On NATS only: the mappings may make several megabytes of a payload. */
const TOO_LARGE = 'The mapped event is too large for the event log.';

function storeRecords(
  exchange: Exchange,
  { source }: CompiledWebhookSource,
  rules: IngestRules,
  records: IngestRecord[],
  tooLarge: () => void,
): void {
  const { ctx } = exchange;
  if (records.length === 0) {
    exchange.succeed(undefined);
    return;
  }
  store(
    exchange,
    records,
    (duplicates) => {
      ctx.counts.accepted(records.length, duplicates.filter(Boolean).length, rules.orgId, rules.pipelineId);
      if (ctx.tap.watched(rules.orgId))
        for (const [at, { eventId }] of records.entries())
          if (!duplicates[at])
            ctx.tap.emit(rules.orgId, {
              stage: 'received',
              pipeline_id: rules.pipelineId,
              event_id: eventId,
              type: 'track',
              payload: { webhook_source_id: source.id },
            });
      exchange.succeed(undefined);
    },
    tooLarge,
  );
}

/** Counted and logged, not kept: a replay could not fix it. */
function ignore(exchange: Exchange, compiled: CompiledWebhookSource, reason: RejectionCode): void {
  const { ctx } = exchange;
  const { source } = compiled;
  ctx.counts.rejected(reason, { orgId: source.org_id, pipelineId: source.pipeline_id, webhookSourceId: source.id });
  ctx.logger.info({ webhook_source_id: source.id, reason }, 'webhook ignored');
  showWebhookRejected(exchange, compiled, reason);
  exchange.succeed(undefined);
}

/** Kept as a dead letter of stage `webhook`. The 200 is sent only when it is on disk. */
function keepRejected(
  exchange: Exchange,
  compiled: CompiledWebhookSource,
  body: Buffer,
  unpacked: Buffer | undefined,
  reason: string,
): void {
  const { ctx, req, receivedAt } = exchange;
  const { digestSecret } = ctx;
  const headers = headersOf(req.headers);
  const request = { headers, query: queryOf(exchange.query), urls: urlsOf(exchange, compiled), body, unpacked, receivedAt };
  const outcome = webhookDeadLetter(compiled, request, reason, { digestSecret, retentionMs: ctx.settings.deadLetterRetentionMs });
  const { id } = outcome.dead_letter;
  ctx.capacity.beginAppend(body.length);
  ctx.fairAdmission.charge(compiled.source.org_id, 1, body.length);
  ctx.log.append([outcomeAppend(ctx.log, compiled.source.id, `webhook/${id}`, [outcome])]).then(
    () => {
      ctx.capacity.endAppend(body.length);
      // For the metrics; the statistics count its dead letter.
      ctx.counts.rejected(WEBHOOK_REJECTED, undefined);
      ctx.logger.info({ webhook_source_id: compiled.source.id, dead_letter_id: id, reason }, 'webhook rejected');
      showWebhookRejected(exchange, compiled, reason);
      exchange.succeed(undefined);
    },
    (error: unknown) => {
      ctx.capacity.endAppend(body.length);
      logAppendFailure(ctx, error);
      exchange.reject(OVERLOADED);
    },
  );
}

function urlsOf(exchange: Exchange, { source }: CompiledWebhookSource): string[] {
  const { ctx, req } = exchange;
  return sourceUrls(source.id, ctx.settings.ingestUrl, ctx.proxies.host(exchange), req.url);
}

function showWebhookRejected({ ctx }: Exchange, { source }: CompiledWebhookSource, reason: string): void {
  const { id, org_id, pipeline_id } = source;
  if (!ctx.tap.watched(org_id)) return;
  ctx.tap.emit(org_id, { stage: 'webhook_rejected', pipeline_id, reason, payload: { webhook_source_id: id } });
}
