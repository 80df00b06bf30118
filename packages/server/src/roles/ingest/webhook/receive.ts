/** `POST /v1/webhook`: always 200, except where nothing could be stored. */
import type { WebhookSource } from '@firsthand/core/config/resources.ts';
import { outcomeAppend } from '../../../outcomes/outcome-log.ts';
import type { CompiledWebhookSource } from '../../../snapshot/webhook-source.ts';
import { isGzip, unpack } from '../body.ts';
import { type Exchange, refuseOverloaded } from '../exchange.ts';
import { complain, store } from '../store.ts';
import { convertWebhook, headersOf } from './convert.ts';
import { webhookDeadLetter } from './dead-letter.ts';
import { sourceUrls } from './urls.ts';

const MAX_BODY = 1_048_576;

export function receiveWebhook(exchange: Exchange): void {
  const { ctx, query } = exchange;
  if (ctx.gate.full) {
    refuseOverloaded(exchange);
    return;
  }
  const id = new URLSearchParams(query ?? '').get('source') ?? '';
  const source = ctx.snapshots.current().webhookSources.get(id);
  if (source === undefined) {
    ctx.counts.rejected('unknown_source', undefined);
    ctx.logger.debug({ webhook_source_id: id.slice(0, 64) }, 'webhook for a source that does not exist');
    thank(exchange);
    return;
  }
  if (!source.source.enabled) {
    ignore(exchange, source, 'source_disabled');
    return;
  }
  exchange.read(
    MAX_BODY,
    (_exchange, body) => onBody(exchange, source, body),
    () => ignore(exchange, source, 'payload_too_large'),
  );
}

function onBody(exchange: Exchange, source: CompiledWebhookSource, body: Buffer): void {
  if (!isGzip(body)) {
    take(exchange, source, body, undefined);
    return;
  }
  Promise.resolve(unpack(body, MAX_BODY))
    .then((unpacked) => {
      if (unpacked.ok) take(exchange, source, body, unpacked.bytes);
      else if (unpacked.refusal.code === 'payload_too_large') ignore(exchange, source, 'payload_too_large');
      else keep(exchange, source, body, 'The body is not valid gzip.');
    })
    .catch((error: unknown) => {
      exchange.ctx.logger.error({ err: error }, 'unexpected error while taking a webhook in');
      exchange.refuse({ code: 'internal_error' });
    });
}

function take(exchange: Exchange, source: CompiledWebhookSource, body: Buffer, unpacked: Buffer | undefined): void {
  const { ctx, req } = exchange;
  const { id, pipeline_id } = source.source;
  const rules = ctx.snapshots.current().pipelines.get(pipeline_id)?.ingest;
  if (rules === undefined || !rules.enabled) {
    ignore(exchange, source, 'pipeline_disabled');
    return;
  }
  const converted = convertWebhook(source, rules, {
    headers: headersOf(req.headers),
    body,
    ...(unpacked === undefined ? {} : { unpacked }),
    receivedAt: exchange.receivedAt,
    urls: sourceUrls(id, ctx.settings.ingestUrl, ctx.proxies.host(req), req.url),
  });
  if (!converted.ok) {
    keep(exchange, source, body, converted.reason);
    return;
  }
  const { records } = converted;
  if (records.length === 0) {
    thank(exchange);
    return;
  }
  store(exchange, records, (_exchange, duplicates) => {
    ctx.counts.accepted(records.length, duplicates.filter(Boolean).length, rules.orgId, rules.pipelineId);
    if (ctx.tap.watched(rules.orgId)) {
      for (const [at, duplicate] of duplicates.entries())
        if (!duplicate)
          ctx.tap.emit(rules.orgId, {
            stage: 'received',
            pipeline_id: rules.pipelineId,
            event_id: records[at]!.eventId,
            type: 'track',
            payload: { webhook_source_id: id },
          });
    }
    thank(exchange);
  });
}

/** Counted and logged, not kept: there is nothing that a replay could mend. */
function ignore(exchange: Exchange, { source }: CompiledWebhookSource, reason: string): void {
  const { ctx } = exchange;
  ctx.counts.rejected(reason, { orgId: source.org_id, pipelineId: source.pipeline_id, webhookSourceId: source.id });
  ctx.logger.info({ webhook_source_id: source.id, reason }, 'webhook ignored');
  tell(exchange, source, reason);
  thank(exchange);
}

/** A dead letter of stage `webhook`; the caller is thanked only when it is on disk. */
function keep(exchange: Exchange, compiled: CompiledWebhookSource, body: Buffer, reason: string): void {
  const { ctx, req } = exchange;
  const { source } = compiled;
  const { deadLetterRetentionMs } = ctx.settings;
  const outcome = webhookDeadLetter(compiled, headersOf(req.headers), body, reason, exchange.receivedAt, deadLetterRetentionMs);
  ctx.gate.wait(body.length);
  ctx.log.append([outcomeAppend(`webhook/${outcome.dead_letter.id}`, [outcome])]).then(
    () => {
      ctx.gate.waited(body.length);
      ctx.logger.info({ webhook_source_id: source.id, dead_letter_id: outcome.dead_letter.id, reason }, 'webhook refused');
      tell(exchange, source, reason);
      thank(exchange);
    },
    (error: unknown) => {
      ctx.gate.waited(body.length);
      complain(ctx, error);
      refuseOverloaded(exchange);
    },
  );
}

function tell({ ctx }: Exchange, { id, org_id, pipeline_id }: WebhookSource, reason: string): void {
  if (!ctx.tap.watched(org_id)) return;
  ctx.tap.emit(org_id, { stage: 'webhook_rejected', pipeline_id, reason, payload: { webhook_source_id: id } });
}
function thank(exchange: Exchange): void {
  exchange.answer(() => exchange.sendOk(undefined));
}
