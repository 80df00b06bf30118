/** Explains a retained event: every step it took, and its result per integration as one word and one sentence. */
import { decodeEnvelope, type IngestEnvelope } from '@firsthand/core/event/envelope.ts';
import { explain } from '@firsthand/core/outcome/explain.ts';
import type { Decision } from '@firsthand/core/outcome/outcome.ts';
import type { CompiledPii } from '@firsthand/core/privacy/pii.ts';
import { shownBody, shownBodyInSteps } from '@firsthand/core/privacy/shown-body.ts';
import { isRecordOf } from '../event-record.ts';
import { finishInTurns, inBulkTurn } from '../runtime/turns.ts';
import type { Snapshot } from '../snapshot/types.ts';
import type { EventLog } from '../stores/event-log/port.ts';
import { findProcessingLetter } from '../stores/observe/dead-letters.ts';
import type { LastStep } from '../stores/observe/list-traces.ts';
import { reasonAndAnswer, type TraceEventRow, type TraceStepRow, UNTRACED } from '../stores/observe/rows.ts';
import type { ObserveDb } from '../stores/observe/schema.ts';
import { findTrace, type ListedTrace } from '../stores/observe/traces.ts';
import { findCanonical, whileAvailable } from './find-events.ts';

export interface ExplainDeps {
  log: EventLog;
  observe: ObserveDb;
  snapshot(): Snapshot;
}
const iso = (ms: number) => new Date(ms).toISOString();

export function summary(row: ListedTrace) {
  return {
    event_id: row.event_id,
    pipeline_id: row.pipeline_id,
    type: row.type,
    original_type: row.original_type,
    event_name: row.event,
    user_id: row.user_id,
    anonymous_id: row.anonymous_id,
    received_at: iso(row.received_at),
    processed_at: iso(row.processed_at),
    status: row.result,
    reason: row.reason,
    ...originOf(row),
  };
}
function originOf({ source }: ListedTrace): { source: IngestEnvelope['source'] | null; webhook_source_id: string | null } {
  if (source === null || source === 'browser' || source === 'server') return { source, webhook_source_id: null };
  return { source: 'webhook', webhook_source_id: source };
}

export async function explainEvent(deps: ExplainDeps, orgId: string, eventId: string, pipelineId?: string) {
  const found = await findTrace(deps.observe, orgId, eventId, pipelineId);
  if (!found) return undefined;
  const { event: row, steps } = found;
  const letter = row.result === 'dead_lettered' ? await findProcessingLetter(deps.observe, row) : undefined;
  const logged = await whileAvailable(
    Promise.all([letter?.event ?? findCanonical(deps.log, row), receivedRecord(deps, row, letter ?? row)]),
  );
  const [event, received] = logged ?? [letter?.event, NOT_RETAINED];
  return {
    ...summary(row),
    event: event ?? null,
    ...received,
    log_available: logged !== undefined,
    steps: lifeOf(row, steps),
    deliveries: deliveriesOf(deps.snapshot(), row, steps),
  };
}

interface ReceivedRequest {
  source: IngestEnvelope['source'];
  bytes: number;
  headers: Record<string, string>;
  cookies: string[];
  ip?: string;
  webhook_source_id?: string;
  replay_of?: string;
}
const NOT_RETAINED = { received: null, request: null };

/** The body as the client sent it and what is kept of its request, while the raw record is retained. */
async function receivedRecord(
  { log, snapshot }: ExplainDeps,
  { org_id, pipeline_id, event_id }: TraceEventRow,
  { raw_topic, raw_position }: Pick<TraceEventRow, 'raw_topic' | 'raw_position'>,
): Promise<{ received: unknown; request: ReceivedRequest | null }> {
  const organisation = snapshot().organisations.get(org_id);
  if (raw_topic === null || raw_position === null || organisation === undefined) return NOT_RETAINED;
  const record = await log.get(raw_topic, raw_position);
  if (!record || !isRecordOf(record.id, pipeline_id, event_id)) return NOT_RETAINED;
  const { envelope, body } = decodeEnvelope(record.data);
  // The body may have megabytes, and the rules look through all of its text.
  const parsed: unknown = await inBulkTurn(body.length, () => JSON.parse(Buffer.from(body).toString('utf8')));
  return {
    received: await finishInTurns(shownBodyInSteps(parsed, organisation.pii)),
    request: requestOf(envelope, body.length, organisation.pii),
  };
}

/** Address and user agent are shown as the privacy rules leave them; of cookies only the names. */
function requestOf(envelope: IngestEnvelope, bytes: number, pii: CompiledPii): ReceivedRequest {
  const { source, ip, user_agent, cookies = {}, gpc, webhook_source_id, replay_of } = envelope;
  const { context } = (shownBody({ context: { ...(ip !== undefined && { ip }), ...(user_agent !== undefined && { user_agent }) } }, pii) ??
    {}) as { context?: Record<string, unknown> };
  const agent = context?.user_agent;
  const shownIp = context?.ip;
  return {
    source,
    bytes,
    headers: {
      ...(typeof agent === 'string' ? { 'user-agent': agent } : {}),
      ...(gpc ? { 'sec-gpc': '1' } : {}),
    },
    cookies: Object.keys(cookies),
    ...(typeof shownIp === 'string' ? { ip: shownIp } : {}),
    ...(webhook_source_id !== undefined && { webhook_source_id }),
    ...(replay_of !== undefined && { replay_of }),
  };
}

function lifeOf(row: TraceEventRow, steps: TraceStepRow[]) {
  return [
    { stage: 'received', time: iso(row.received_at) },
    ...(JSON.parse(row.decisions) as Decision[]).map((decision) => ({ stage: 'processing', time: iso(row.processed_at), ...decision })),
    {
      stage: row.result,
      time: iso(row.processed_at),
      ...(row.reason === null ? {} : { reason: row.reason, explanation: whyEnded(row) }),
    },
    ...steps.map((step) => {
      const { reason, answer } = reasonAndAnswer(step);
      return {
        stage: step.kind,
        time: iso(step.at),
        integration_id: step.integration_id,
        status: step.status,
        duration_ms: step.duration_ms,
        reason,
        ...(step.revision_number === null ? {} : { revision_number: step.revision_number }),
        ...(answer === null ? {} : { answer }),
        ...(step.due_at === null ? {} : { next_attempt_at: iso(step.due_at) }),
      };
    }),
  ];
}

/** The result of an event per integration: those of its pipeline, and those that have a step of it. */
export function fatesOf<S extends LastStep>(snapshot: Snapshot, row: ListedTrace, steps: S[]) {
  const byIntegration = Map.groupBy(steps, (step) => step.integration_id);
  const assigned = snapshot.pipelines.get(row.pipeline_id)?.integrations.map((each) => each.integration.id) ?? [];
  return [...new Set([...assigned, ...byIntegration.keys()])].map((id) => {
    const integration = snapshot.integrations.get(id)?.integration;
    const own = byIntegration.get(id) ?? [];
    const last = own.at(-1);
    const addedLater = integration !== undefined && Date.parse(integration.created_at) > row.processed_at;
    return { integration_id: id, integration, own, ...(last === undefined ? withoutStep(row, addedLater) : afterStep(last)) };
  });
}

function deliveriesOf(snapshot: Snapshot, row: TraceEventRow, steps: TraceStepRow[]) {
  return fatesOf(snapshot, row, steps).map(({ integration_id, integration, own, status, reason, explanation }) => ({
    integration_id,
    name: integration?.name ?? null,
    vendor: integration?.vendor ?? null,
    status,
    reason,
    explanation,
    revision_number: own.at(-1)?.revision_number ?? null,
    attempts: own
      .filter((step) => step.kind !== 'dropped')
      .map((step) => {
        const { reason: error, answer } = reasonAndAnswer(step);
        const { status: code, duration_ms, revision_number } = step;
        return { at: iso(step.at), status: code, error, duration_ms, answer, revision_number };
      }),
  }));
}

interface Fate {
  status: TraceStepRow['kind'] | TraceEventRow['result'] | 'not_routed' | 'waiting' | typeof UNTRACED;
  reason: string | null;
  explanation: string;
}
function afterStep(step: LastStep): Fate {
  const { kind } = step;
  const { reason } = reasonAndAnswer(step);
  const explanation = kind === 'dropped' && reason ? explain(reason) : explain(kind, reason);
  return { status: kind, reason, explanation };
}
/** An event that ended before routing ended for every integration, for the same reason. */
function withoutStep(row: ListedTrace, addedLater: boolean): Fate {
  if (addedLater) return { status: 'not_routed', reason: null, explanation: explain('not_routed') };
  if (row.reason === UNTRACED) return { status: UNTRACED, reason: null, explanation: explain(UNTRACED) };
  if (row.result === 'processed') return { status: 'waiting', reason: null, explanation: explain('waiting') };
  return { status: row.result, reason: row.reason, explanation: whyEnded(row) };
}
function whyEnded({ result, reason }: ListedTrace): string {
  return result === 'dead_lettered' ? explain('processing_failed', reason) : explain(reason ?? result);
}
