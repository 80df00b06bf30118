/** Turns a batch of outcomes into rows of traces, counters and the dead-letter index. Pure. */
import { type DeadLetter, type Outcome, WEBHOOK_REJECTED } from '@firsthand/core/outcome/outcome.ts';
import { latencyBucket } from '../stores/observe/latency.ts';
import {
  ANY_TIME,
  type CounterRow,
  keyOfEvent,
  type Tally,
  type TraceEventRow,
  type TraceStepRow,
  UNTRACED,
} from '../stores/observe/rows.ts';
import { cleanText, storedId, storedName, storedReason } from '../stores/observe/stored-text.ts';

const MINUTE = 60_000;

export function tally(outcomes: Iterable<Outcome>): Tally {
  const events: TraceEventRow[] = [];
  const replacing: TraceEventRow[] = [];
  const steps: TraceStepRow[] = [];
  let stepsReceived: Tally['stepsReceived'];
  const untraced = new Map<string, TraceEventRow>();
  const untracedSuccess = new Map<string, TraceStepRow>();
  const lastReceived = new Map<string, TraceStepRow>();
  const deadLetters: DeadLetter[] = [];
  const counters = new Map<string, CounterRow>();

  function count(outcome: Outcome, integrationId: string, at: number, counter: string, n = 1): void {
    const minute = Math.floor(at / MINUTE);
    const key = `${outcome.pipeline_id}\n${integrationId}\n${minute}\n${counter}`;
    const row = counters.get(key);
    if (row) row.n += n;
    else counters.set(key, { org_id: outcome.org_id, pipeline_id: outcome.pipeline_id, integration_id: integrationId, minute, counter, n });
  }
  function traceEvent(
    outcome: Extract<Outcome, { kind: 'processed' | 'dropped' | 'dead_lettered' }>,
    receivedAt: number,
    reason: string | null,
  ): void {
    const processed = outcome.kind === 'processed' ? outcome : undefined;
    const raw = outcome.kind === 'dead_lettered' ? outcome.dead_letter.raw : outcome.raw;
    const row: TraceEventRow = {
      org_id: outcome.org_id,
      pipeline_id: outcome.pipeline_id,
      event_id: cleanText(outcome.event_id),
      received_at: receivedAt,
      processed_at: outcome.at,
      type: outcome.type,
      original_type: outcome.original_type ?? null,
      event: optional(outcome.event, storedName),
      user_id: optional(outcome.user_id, storedId),
      anonymous_id: optional(outcome.anonymous_id, storedId),
      result: outcome.kind,
      reason: optional(reason, storedReason),
      decisions: JSON.stringify(outcome.decisions ?? []),
      raw_topic: raw?.topic ?? null,
      raw_position: raw?.position ?? null,
      stored_position: processed?.stored ?? null,
      source: outcome.webhook_source_id ?? outcome.source ?? null,
    };
    events.push(row);
    if (outcome.again === true) replacing.push(row);
  }
  function countReceived(outcome: Extract<Outcome, { kind: 'processed' | 'dropped' | 'dead_lettered' }>, receivedAt: number): void {
    count(outcome, '', receivedAt, 'received');
    const source = outcome.webhook_source_id ?? outcome.source;
    if (source !== undefined) count(outcome, '', receivedAt, `source:${source}`);
    noteSource(outcome, receivedAt);
  }
  /** The row of a source among those of integrations: its ids are others. */
  function noteSource(outcome: Extract<Outcome, { kind: 'processed' | 'dropped' | 'dead_lettered' }>, receivedAt: number): void {
    const { webhook_source_id: id, again } = outcome;
    if (id === undefined || again === true || (lastReceived.get(id)?.at ?? 0) > receivedAt) return;
    const { org_id, pipeline_id, event_id } = outcome;
    const none = { reason: null, status: null, duration_ms: null, due_at: null, revision_number: null };
    lastReceived.set(id, {
      org_id,
      pipeline_id,
      event_id: cleanText(event_id),
      integration_id: id,
      at: receivedAt,
      kind: 'delivered',
      ...none,
    });
  }
  function traceStep(
    outcome: Exclude<Outcome, { kind: 'ingest_counts' | 'rejected_events' | 'processed' }>,
    integrationId: string,
    rest: Partial<TraceStepRow>,
  ): void {
    const step: TraceStepRow = {
      org_id: outcome.org_id,
      pipeline_id: outcome.pipeline_id,
      event_id: cleanText(outcome.event_id),
      integration_id: integrationId,
      at: outcome.at,
      kind: outcome.kind,
      reason: null,
      status: null,
      duration_ms: null,
      due_at: null,
      revision_number: ('revision_number' in outcome ? outcome.revision_number : undefined) ?? null,
      ...rest,
    };
    if (outcome.kind !== 'delivered' && outcome.untraced) noteUntraced(outcome);
    if (outcome.kind === 'delivered' && outcome.untraced) untracedSuccess.set(integrationId, step);
    else {
      steps.push(step);
      stepsReceived ??= { first: Number.POSITIVE_INFINITY, last: 0 };
      // A replay of a dead letter has the time of the letter, which is later than that of its event.
      const first = 'replay' in outcome && outcome.replay ? ANY_TIME.first : (outcome.received_at ?? ANY_TIME.first);
      stepsReceived.first = Math.min(stepsReceived.first, first);
      stepsReceived.last = Math.max(stepsReceived.last, outcome.received_at ?? ANY_TIME.last);
    }
  }
  /** An event without a trace that has a drop or an error: it gets a row, so that it is found. */
  function noteUntraced(outcome: Extract<Outcome, { kind: 'dropped' | 'retrying' | 'accepted_by_vendor' | 'dead_lettered' }>): void {
    const key = keyOfEvent(outcome);
    if (untraced.has(key)) return;
    untraced.set(key, {
      org_id: outcome.org_id,
      pipeline_id: outcome.pipeline_id,
      event_id: cleanText(outcome.event_id),
      received_at: outcome.received_at ?? outcome.at,
      processed_at: outcome.received_at ?? outcome.at,
      type: outcome.type ?? 'track',
      original_type: outcome.original_type ?? null,
      event: optional(outcome.event, storedName),
      user_id: optional(outcome.user_id, storedId),
      anonymous_id: optional(outcome.anonymous_id, storedId),
      result: 'processed',
      reason: UNTRACED,
      decisions: '[]',
      raw_topic: null,
      raw_position: null,
      stored_position: null,
      source: null,
    });
  }

  for (const outcome of outcomes) {
    switch (outcome.kind) {
      case 'ingest_counts':
        if (outcome.duplicates > 0) count(outcome, '', outcome.at, 'duplicates', outcome.duplicates);
        for (const [code, n] of Object.entries(outcome.rejected)) count(outcome, '', outcome.at, `rejected:${code}`, n);
        break;
      case 'rejected_events':
        if (outcome.dropped > 0) count(outcome, '', outcome.at, 'rejected_dropped', outcome.dropped);
        deadLetters.push(...outcome.letters);
        break;
      case 'processed':
        if (!outcome.replay) countReceived(outcome, outcome.received_at);
        count(outcome, '', outcome.at, 'processed');
        // The plan makes a decision only about an event that violates it: allowed or flagged.
        if (outcome.decisions.some(({ step }) => step === 'tracking_plan')) count(outcome, '', outcome.at, 'plan_violations');
        if (!outcome.untraced) traceEvent(outcome, outcome.received_at, null);
        break;
      case 'dropped':
        // The event of a replay was counted when it first arrived: its own outcomes have counters of their own.
        count(
          outcome,
          outcome.integration_id ?? '',
          outcome.at,
          `${outcome.replay ? 'dropped_again' : 'dropped'}:${storedReason(outcome.reason)}`,
        );
        if (outcome.integration_id === undefined) {
          if (!outcome.replay) countReceived(outcome, outcome.received_at);
          traceEvent(outcome, outcome.received_at, outcome.reason);
        } else traceStep(outcome, outcome.integration_id, { reason: storedReason(outcome.reason) });
        break;
      case 'delivered':
        count(outcome, outcome.integration_id, outcome.at, outcome.replay ? 'replayed' : 'delivered');
        if (!outcome.replay) count(outcome, outcome.integration_id, outcome.at, `latency:${latencyBucket(outcome.duration_ms)}`);
        // A success has no reason: the column holds the vendor's answer.
        traceStep(outcome, outcome.integration_id, {
          status: outcome.attempt.status,
          duration_ms: outcome.attempt.duration_ms,
          reason: optional(outcome.attempt.error ?? outcome.attempt.answer, storedReason),
        });
        break;
      case 'retrying':
      case 'accepted_by_vendor':
        if (outcome.kind === 'retrying') count(outcome, outcome.integration_id, outcome.at, 'retried');
        traceStep(outcome, outcome.integration_id, {
          status: outcome.attempt.status,
          duration_ms: outcome.attempt.duration_ms,
          reason: optional(outcome.attempt.error, storedReason),
          due_at: outcome.due_at,
        });
        break;
      case 'dead_lettered': {
        const letter = outcome.dead_letter;
        deadLetters.push(letter);
        if (letter.stage === 'webhook') {
          count(outcome, '', outcome.at, `rejected:${WEBHOOK_REJECTED}`);
          break;
        }
        count(outcome, letter.integration_id ?? '', outcome.at, outcome.replay ? 'dead_lettered_again' : 'dead_lettered');
        if (letter.integration_id === null) {
          const receivedAt = outcome.received_at ?? outcome.at;
          if (!outcome.replay) countReceived(outcome, receivedAt);
          traceEvent(outcome, receivedAt, letter.reason);
        } else {
          const last = letter.attempts.at(-1);
          traceStep(outcome, letter.integration_id, {
            reason: storedReason(letter.reason),
            status: last?.status ?? null,
            duration_ms: last?.duration_ms ?? null,
            revision_number: letter.revision_number,
          });
        }
        break;
      }
    }
  }
  return {
    events,
    replacing,
    untraced: [...untraced.values()],
    steps,
    stepsReceived,
    untracedSuccess: [...untracedSuccess.values()],
    lastReceived: [...lastReceived.values()],
    counters: [...counters.values()],
    deadLetters,
  };
}

function optional(text: string | null | undefined, stored: (text: string) => string): string | null {
  return text === null || text === undefined ? null : stored(text);
}
