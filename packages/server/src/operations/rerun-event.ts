/** Runs a retained event through processing again and says what each step changed. Stores nothing and sends nothing. */
import { isDeepStrictEqual } from 'node:util';
import type { GeoLookup } from '@firsthand/core/context/geo.ts';
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { canonicalise } from '@firsthand/core/event/canonicalise.ts';
import { decodeEnvelope } from '@firsthand/core/event/envelope.ts';
import { isObject, own } from '@firsthand/core/json.ts';
import type { Decision } from '@firsthand/core/outcome/outcome.ts';
import { applyPii, type CompiledPii } from '@firsthand/core/privacy/pii.ts';
import type { CompiledOrganisation } from '@firsthand/core/process/compiled.ts';
import { type Processed, processEvent } from '@firsthand/core/process/process-event.ts';
import { weigh } from '@firsthand/core/value-size.ts';
import { isRecordOf } from '../event-record.ts';
import { atStep } from '../runtime/stall-watch.ts';
import { inBulkTurn, turns } from '../runtime/turns.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { CompiledPipeline } from '../snapshot/types.ts';
import { findProcessingLetter } from '../stores/observe/dead-letters.ts';
import type { TraceEventRow } from '../stores/observe/rows.ts';
import { findTrace } from '../stores/observe/traces.ts';
import type { ExplainDeps } from './explain-event.ts';
import { findCanonical, whileAvailable } from './find-events.ts';

/** The event is copied after each step: a larger one would hold the event loop. */
const MOST_BYTES = 65_536;
/** In characters. A hundred transformations may each make megabytes of a small event. */
const MOST_IN_COPY = 4 * MOST_BYTES;
const MOST_IN_COPIES = 64 * MOST_BYTES;
/** Context, consent and bots. */
const STEPS_BEFORE_RULES = 3;
const MOST_CHANGES = 100;
const MOST_CHARACTERS = 1_000;

export interface Change {
  path: string;
  before?: unknown;
  after?: unknown;
  /** The privacy rules changed it: the value before is not shown. */
  hidden?: true;
}
export interface RerunStep extends Pick<Decision, 'step' | 'result'> {
  changes: Change[];
}
export interface RerunResult {
  pipeline_id: string;
  /** Why there are no steps. */
  unavailable: 'not_retained' | 'log_unavailable' | 'too_large' | null;
  /** The rerun ended as the event did when it was processed. Otherwise the configuration was changed since. */
  same: boolean;
  steps: RerunStep[];
}

export interface RerunDeps extends ExplainDeps {
  sandbox: Pick<Sandbox, 'runFresh'>;
}

/** Undefined: there is no trace of the event. */
export async function rerunEvent(deps: RerunDeps, orgId: string, eventId: string, pipelineId?: string): Promise<RerunResult | undefined> {
  const { log, observe } = deps;
  const found = await findTrace(observe, orgId, eventId, pipelineId);
  if (!found) return undefined;
  const { event: row } = found;
  const without = (unavailable: RerunResult['unavailable']) => ({ pipeline_id: row.pipeline_id, unavailable, same: false, steps: [] });
  const letter = row.result === 'dead_lettered' ? await findProcessingLetter(observe, row) : undefined;
  const { raw_topic, raw_position } = letter ?? row;
  if (raw_topic === null || raw_position === null) return without('not_retained');
  const read = await whileAvailable(Promise.all([log.get(raw_topic, raw_position), letter?.event ?? findCanonical(log, row)]));
  if (read === undefined) return without('log_unavailable');
  const [record, stored] = read;
  if (!record || !isRecordOf(record.id, row.pipeline_id, row.event_id)) return without('not_retained');
  if (record.data.length > MOST_BYTES) return without('too_large');
  const organisation = deps.snapshot().organisations.get(row.org_id);
  const pipeline = deps.snapshot().pipelines.get(row.pipeline_id);
  if (organisation === undefined || pipeline === undefined) return without('not_retained');
  return await rerun(deps, row, record.data, stored as CanonicalEvent | undefined, organisation, pipeline);
}

async function rerun(
  deps: RerunDeps,
  row: TraceEventRow,
  data: Uint8Array,
  stored: CanonicalEvent | undefined,
  organisation: CompiledOrganisation,
  pipeline: CompiledPipeline,
): Promise<RerunResult> {
  const { envelope, body } = decodeEnvelope(data);
  const first = JSON.parse(row.decisions) as Decision[];
  const event = canonicalise(envelope, body);
  const copies = new Copies();
  copies.add(event, 1);
  let steps = 0;
  /** Decisions before the privacy rules. */
  let open = 0;
  const result = await processEvent(
    {
      event,
      request: envelope,
      org_id: row.org_id,
      pipeline_id: row.pipeline_id,
      received_at: envelope.received_at,
      organisation,
      processing: pipeline.processing,
      visitor: undefined,
      large: true,
    },
    {
      runCode: ({ code, event: given, parameters }) => deps.sandbox.runFresh(code.code, given, parameters, row.org_id),
      turn: turns.bulk,
      geo: () => geoOf(stored),
      rerun: {
        decisions: first,
        event: stored,
        afterStep(now, decisions) {
          atStep('rerun', row.pipeline_id);
          if (++steps <= STEPS_BEFORE_RULES) open = decisions.length;
          copies.add(now, decisions.length + 1);
        },
      },
    },
  );
  // The decision that ended the event. An event that failed is kept as it was before user code.
  if (result.kind === 'failed') copies.repeatLast(result.decisions.length + 1);
  else copies.add(result.event, result.decisions.length + 1);
  if (copies.texts === undefined) return { pipeline_id: row.pipeline_id, unavailable: 'too_large', same: false, steps: [] };
  const shown = await stepsOf(result, copies.texts, open, organisation.pii);
  return { pipeline_id: row.pipeline_id, unavailable: null, same: isSame(row, first, stored, result), steps: shown };
}

const isTooLarge = (event: CanonicalEvent) => weigh(event, MOST_IN_COPY) > MOST_IN_COPY;

/** The event as text before the first step and after each decision. */
class Copies {
  /** Undefined: they are too large together. */
  texts: string[] | undefined = [];
  #left = MOST_IN_COPIES;

  /** Adds as many copies as are missing. */
  add(event: CanonicalEvent, upTo: number): void {
    if (this.texts === undefined || this.texts.length >= upTo) return;
    if (isTooLarge(event)) this.texts = undefined;
    else this.#repeat(JSON.stringify(event), upTo);
  }
  repeatLast(upTo: number): void {
    this.#repeat(this.texts?.at(-1) ?? '', upTo);
  }
  #repeat(text: string, upTo: number): void {
    while (this.texts !== undefined && this.texts.length < upTo) {
      this.#left -= text.length;
      if (this.#left < 0) this.texts = undefined;
      else this.texts.push(text);
    }
  }
}

/** The database of addresses may have changed since, and other processes need not have it. */
function geoOf(stored: CanonicalEvent | undefined): ReturnType<GeoLookup> {
  const geo = stored && own(stored.context, 'geo');
  return isObject(geo) ? (geo as ReturnType<GeoLookup>) : undefined;
}

function isSame(
  row: TraceEventRow,
  first: readonly Decision[],
  stored: CanonicalEvent | undefined,
  { kind, ...ended }: Processed,
): boolean {
  const word = (decisions: readonly Decision[]) => decisions.map(({ step, result }) => `${step} ${result}`).join();
  if (word(first) !== word(ended.decisions)) return false;
  if (row.result === 'dropped') return kind === 'dropped' && 'reason' in ended && ended.reason === row.reason;
  if ((row.result === 'processed') !== (kind === 'processed') || stored === undefined || isTooLarge(stored)) return false;
  return isDeepStrictEqual(JSON.parse(JSON.stringify(ended.event)), JSON.parse(JSON.stringify(stored)));
}

/** Every copy is parsed in a turn of its own. */
async function stepsOf({ decisions }: Processed, texts: readonly string[], open: number, pii: CompiledPii): Promise<RerunStep[]> {
  const shownAt = (at: number) => {
    const text = texts[at] ?? '{}';
    return inBulkTurn(text.length, () => {
      const event = JSON.parse(text) as CanonicalEvent;
      // Values from before the privacy rules are shown as the rules leave them.
      if (at <= open) applyPii(event, pii, []);
      return event;
    });
  };
  const steps: RerunStep[] = [];
  let before = await shownAt(0);
  for (const [at, { step, result, changed = [] }] of decisions.entries()) {
    const next = await shownAt(at + 1);
    const changes: Change[] = [];
    if (step === 'pii') changes.push(...changed.map((path) => ({ path, hidden: true as const, ...given('after', valueAt(next, path)) })));
    else compare('', before, next, changes);
    steps.push({ step, result, changes });
    before = next;
  }
  return steps;
}

/** Leaves of objects that differ; lists are compared as a whole. */
function compare(path: string, before: unknown, after: unknown, changes: Change[]): void {
  if (changes.length >= MOST_CHANGES || isDeepStrictEqual(before, after)) return;
  if (isObject(before ?? {}) && isObject(after ?? {}) && (path === '' || isObject(before) || isObject(after))) {
    const [old, next] = [(before ?? {}) as Record<string, unknown>, (after ?? {}) as Record<string, unknown>];
    for (const key of new Set([...Object.keys(old), ...Object.keys(next)]))
      compare(path === '' ? key : `${path}.${key}`, own(old, key), own(next, key), changes);
  } else changes.push({ path, ...given('before', before), ...given('after', after) });
}
function given(name: 'before' | 'after', value: unknown): { before?: unknown; after?: unknown } {
  if (value === undefined) return {};
  const text = JSON.stringify(value);
  return { [name]: text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : value };
}
function valueAt(from: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (isObject(value) ? own(value, key) : undefined), from);
}
