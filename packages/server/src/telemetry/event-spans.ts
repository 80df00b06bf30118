/**
 * One trace per event: a span from accepted to processed, and below it one span per delivery attempt. The ids derive from pipeline
 * and event id, so roles in several processes, and attempts days apart, meet in one trace without passing anything along. Spans
 * carry no personal data: names, ids of the configuration, statuses and reasons.
 */
import { hash } from 'node:crypto';
import type { Attempt, Outcome } from '@firsthand/core/outcome/outcome.ts';
import type { Attributes, Span } from './otlp.ts';

type OfEvent = Exclude<Outcome, { kind: 'ingest_counts' | 'rejected_events' }>;

/** @param ratio share of events that are traced, from 0 to 1: all spans of an event, or none */
export function eventSpans(outcomes: Iterable<Outcome>, ratio: number): Span[] {
  const spans: Span[] = [];
  for (const outcome of outcomes) {
    if (outcome.kind === 'ingest_counts' || outcome.kind === 'rejected_events') continue;
    const ids = traceIds(outcome);
    if (ids.share >= ratio) continue;
    const span = spanOf(outcome, ids);
    if (span) spans.push(span);
  }
  return spans;
}

interface TraceIds {
  traceId: string;
  rootSpanId: string;
  /** Evenly spread from 0 to 1. */
  share: number;
}
export function traceIds({ pipeline_id, event_id }: Pick<OfEvent, 'pipeline_id' | 'event_id'>): TraceIds {
  const digest = hash('sha256', `${pipeline_id}\n${event_id}`, 'hex');
  return { traceId: digest.slice(0, 32), rootSpanId: digest.slice(32, 48), share: Number.parseInt(digest.slice(48, 60), 16) / 2 ** 48 };
}

function spanOf(outcome: OfEvent, ids: TraceIds): Span | undefined {
  switch (outcome.kind) {
    case 'processed':
      return processing(outcome, ids, outcome.received_at, { 'firsthand.result': 'processed' });
    case 'dropped':
      return outcome.integration_id === undefined
        ? processing(outcome, ids, outcome.received_at, { 'firsthand.result': 'dropped', 'firsthand.reason': outcome.reason })
        : delivery(outcome, ids, outcome.integration_id, { 'firsthand.reason': outcome.reason });
    case 'delivered':
    case 'accepted_by_vendor':
      return delivery(outcome, ids, outcome.integration_id, {}, outcome.attempt);
    case 'retrying':
      return failed(delivery(outcome, ids, outcome.integration_id, {}, outcome.attempt), outcome.attempt.error);
    case 'dead_lettered': {
      const { integration_id, reason, attempts, stage } = outcome.dead_letter;
      const why = { 'firsthand.stage': stage, 'firsthand.reason': reason };
      const span =
        integration_id === null
          ? processing(outcome, ids, outcome.received_at ?? outcome.at, { 'firsthand.result': 'dead_lettered', ...why })
          : delivery(outcome, ids, integration_id, why, attempts.at(-1));
      return failed(span, reason);
    }
  }
}

function processing(outcome: OfEvent & { type: string; event?: string | undefined }, ids: TraceIds, start: number, more: Attributes): Span {
  return {
    traceId: ids.traceId,
    spanId: ids.rootSpanId,
    name: `process ${outcome.type}`,
    kind: 'internal',
    start,
    end: Math.max(start, outcome.at),
    attributes: { ...about(outcome), ...(outcome.event === undefined ? {} : { 'firsthand.event': outcome.event }), ...more },
  };
}

function delivery(outcome: OfEvent, ids: TraceIds, integrationId: string, more: Attributes, attempt?: Attempt): Span {
  const start = attempt ? Date.parse(attempt.at) : outcome.at;
  const status = attempt?.status ?? undefined;
  return {
    traceId: ids.traceId,
    // The time tells the attempts of one delivery apart.
    spanId: hash('sha256', `${ids.traceId}\n${integrationId}\n${outcome.kind}\n${start}`, 'hex').slice(0, 16),
    parentSpanId: ids.rootSpanId,
    name: 'deliver',
    kind: 'client',
    start,
    end: start + (attempt?.duration_ms ?? 0),
    attributes: {
      ...about(outcome),
      'firsthand.integration_id': integrationId,
      'firsthand.result': outcome.kind,
      ...(status === undefined ? {} : { 'http.response.status_code': status }),
      ...more,
    },
  };
}

function about({ org_id, pipeline_id, event_id }: OfEvent): Attributes {
  return { 'firsthand.organisation_id': org_id, 'firsthand.pipeline_id': pipeline_id, 'firsthand.event_id': event_id };
}
function failed(span: Span, error: string | null): Span {
  return { ...span, error: error ?? 'the attempt failed' };
}
