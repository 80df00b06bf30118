/**
 * Runs one event through all steps between ingest and the event log: the organisation's seven steps, then the pipeline's tracking plan
 * and transformations. Returns a promise only if user code runs or the event is large. Never throws or rejects.
 */
import { applyAliases, applyContext, type RequestFacts } from '../context/enrich.ts';
import type { GeoLookup } from '../context/geo.ts';
import type { CanonicalEvent } from '../event/canonical.ts';
import { withPatternBudget } from '../filter/pattern.ts';
import type { Decision, DropReason, ProcessingStep } from '../outcome/outcome.ts';
import { applyPiiToAdded } from '../privacy/added.ts';
import { applyBots } from '../privacy/bots.ts';
import { applyConsent } from '../privacy/consent.ts';
import { applyPii, PiiPass } from '../privacy/pii.ts';
import { applyTrackingPlan } from '../tracking-plan/tracking-plan.ts';
import { acceptReturned, type CompiledCode, type RunCode } from './code.ts';
import type { CompiledOrganisation, CompiledProcessing } from './compiled.ts';
import { applyIdentity } from './identity.ts';
import { applyClickTimes, applyMemory } from './memory.ts';
import { repeatVisitorSteps } from './repeat-visitor-steps.ts';
import { applyRouting } from './routing.ts';
import { applySession } from './session.ts';
import type { VisitorState } from './visitor.ts';

export interface ProcessInput {
  /** Modified in place: the caller must hold the only reference. */
  event: CanonicalEvent;
  request: RequestFacts;
  org_id: string;
  pipeline_id: string;
  received_at: number;
  organisation: CompiledOrganisation;
  processing: CompiledProcessing;
  /** Stored state of the visitor. Undefined for events without an anonymous id. */
  visitor: { id: string; state: VisitorState } | undefined;
  /** The event is too large for one turn of the event loop: expensive steps are split with `deps.turn`. */
  large?: boolean;
}
export interface ProcessDeps {
  geo?: GeoLookup;
  runCode: RunCode;
  /** Returns a promise if the work must wait for a later turn of the event loop. Required to split large events. */
  turn?: () => Promise<void> | undefined;
  /** Set where an event is run again to show what each step did. */
  rerun?: Rerun;
}
export interface Rerun {
  /** The decisions and the result of the first run. What depends on the visitor's state then is taken from them. */
  decisions: readonly Decision[];
  event: CanonicalEvent | undefined;
  /** Called after each step. The event changes afterwards. */
  afterStep(event: CanonicalEvent, decisions: readonly Decision[]): void;
}
interface Ended {
  event: CanonicalEvent;
  decisions: Decision[];
  /** The visitor's state after this event. The same object as the input if nothing changed. */
  visitor: VisitorState | undefined;
}
export type Processed =
  | ({ kind: 'processed' } & Ended)
  | ({ kind: 'dropped'; reason: DropReason } & Ended)
  /** Becomes a dead letter of stage `processing`. */
  | ({ kind: 'failed'; reason: string } & Ended);

const MAX_CHANGED = 20;

export function processEvent(input: ProcessInput, deps: ProcessDeps): Processed | Promise<Processed> {
  const run = new Run(input, deps);
  try {
    return withPatternBudget(() => run.start());
  } catch (error) {
    return run.broke(error);
  }
}

class Run {
  readonly #input: ProcessInput;
  readonly #deps: ProcessDeps;
  readonly #decisions: Decision[] = [];
  #event: CanonicalEvent;
  #state: VisitorState | undefined;
  /** The event before user code and rules, which create a new object. Undefined until they begin. */
  #before: CanonicalEvent | undefined;

  constructor(input: ProcessInput, deps: ProcessDeps) {
    this.#input = input;
    this.#deps = deps;
    this.#event = input.event;
    this.#state = input.visitor?.state;
  }

  start(): Processed | Promise<Processed> {
    const { organisation, request } = this.#input;
    const event = this.#event;
    const decisions = this.#decisions;
    applyContext(event, request, this.#deps.geo, decisions);
    this.#stepped();
    applyConsent(event, organisation.consent, decisions);
    this.#stepped();
    const bot = applyBots(event, request.source, organisation.bots, decisions);
    this.#stepped();
    // The privacy rules also apply to an event that ends here: its trace names the person.
    if (this.#input.large === true && this.#deps.turn !== undefined) return this.#piiInSlices(this.#deps.turn, bot);
    applyPii(event, organisation.pii, decisions);
    return bot === undefined ? this.#afterPii() : this.#dropped(bot);
  }

  async #piiInSlices(turn: () => Promise<void> | undefined, bot: DropReason | undefined): Promise<Processed> {
    try {
      const pass = new PiiPass(this.#event, this.#input.organisation.pii, this.#decisions);
      while (pass.step()) await turn();
      await turn();
      if (bot !== undefined) return this.#dropped(bot);
      return await withPatternBudget(() => this.#afterPii());
    } catch (error) {
      return this.broke(error);
    }
  }

  #afterPii(): Processed | Promise<Processed> {
    const { organisation, processing, request, visitor, org_id, received_at } = this.#input;
    const event = this.#event;
    const decisions = this.#decisions;
    this.#stepped();
    applyAliases(event, decisions);
    this.#stepped();
    const { rerun } = this.#deps;
    if (rerun !== undefined)
      repeatVisitorSteps(event, rerun, (decision) => {
        decisions.push(decision);
        this.#stepped();
      });
    else if (visitor !== undefined) {
      const known = decisions.length;
      const session = { visitor_id: visitor.id, org_id, received_at };
      const inSession = applySession(event, session, organisation.session_timeout_ms, visitor.state, decisions);
      const identified = applyIdentity(event, organisation.remember_traits, inSession, decisions);
      const { consent, memory } = organisation;
      const input = { received_at, cookies: request.cookies, id_consent: processing.id_consent, consent };
      this.#state = applyMemory(event, input, memory, identified, decisions);
      const added = decisions.slice(known).flatMap(({ changed = [] }) => changed);
      applyPiiToAdded(event, added, organisation.pii);
    } else applyClickTimes(event, received_at, decisions);
    this.#before = event;
    if (organisation.custom_code !== undefined) return this.#withCustomCode(organisation.custom_code);
    return this.#afterCode();
  }

  async #withCustomCode(code: CompiledCode): Promise<Processed> {
    try {
      return (await this.#code(code, 'custom_code', 'custom_code')) ?? (await withPatternBudget(() => this.#afterCode()));
    } catch (error) {
      return this.broke(error);
    }
  }

  #afterCode(): Processed | Promise<Processed> {
    const { organisation, processing, pipeline_id } = this.#input;
    const routed = applyRouting(this.#event, pipeline_id, organisation.routing, this.#decisions);
    this.#stepped();
    if (routed.kind === 'failed') return this.#failed(routed.reason, 'read too much', 'routing');
    if (routed.kind === 'dropped') return this.#dropped(routed.reason);
    if (processing.tracking_plan !== undefined) {
      const violated = applyTrackingPlan(this.#event, processing.tracking_plan, this.#decisions);
      this.#stepped();
      if (violated !== undefined) return this.#dropped(violated);
    }
    return this.#transform(0);
  }

  #transform(from: number): Processed | Promise<Processed> {
    const { transformations } = this.#input.processing;
    for (let i = from; ; i++) {
      const transformation = transformations[i];
      if (transformation === undefined) break;
      if (!transformation.applies(this.#event)) continue;
      if (transformation.kind === 'code') return this.#transformByCode(transformation.code, transformation.id, i);
      const result = transformation.apply(this.#event);
      if (result.kind === 'failed') return this.#failed(`transformation ${transformation.id}: ${result.reason}`, transformation.id);
      if (result.kind === 'dropped') {
        this.#decisions.push({ step: 'transformation', result: 'dropped', detail: transformation.id });
        return this.#dropped('transformation');
      }
      this.#event = result.event;
      const { changed } = result;
      if (changed.length > 0)
        this.#decisions.push({
          step: 'transformation',
          result: 'applied',
          changed: changed.slice(0, MAX_CHANGED),
          detail: transformation.id,
        });
      this.#stepped();
    }
    return { kind: 'processed', ...this.#ended() };
  }

  async #transformByCode(code: CompiledCode, id: string, index: number): Promise<Processed> {
    try {
      return (
        (await this.#code(code, 'transformation', 'transformation', id)) ?? (await withPatternBudget(() => this.#transform(index + 1)))
      );
    } catch (error) {
      return this.broke(error);
    }
  }

  /** Returns undefined if the event continues to the next step. */
  async #code(code: CompiledCode, step: ProcessingStep, reason: DropReason, id?: string): Promise<Processed | undefined> {
    const { org_id, pipeline_id, processing } = this.#input;
    const result = await this.#deps.runCode({ code, org_id, pipeline_id, event: this.#event, parameters: processing.parameters });
    const accepted = result.kind === 'failed' ? result : acceptReturned(result.value, this.#event);
    const about = [id, ...result.logs].filter((part) => part !== undefined).join('\n');
    const detail = about === '' ? undefined : { detail: about.slice(0, 1_000) };
    if (accepted.kind === 'failed') {
      const name = id === undefined ? 'custom code' : `transformation ${id}`;
      return this.#failed(`${name}: ${accepted.reason}`, about, step);
    }
    this.#decisions.push({ step, result: accepted.kind === 'dropped' ? 'dropped' : 'applied', ...detail });
    if (accepted.kind === 'dropped') return this.#dropped(reason);
    this.#event = accepted.event;
    this.#stepped();
    return undefined;
  }

  #stepped(): void {
    this.#deps.rerun?.afterStep(this.#event, this.#decisions);
  }

  #dropped(reason: DropReason): Processed {
    return { kind: 'dropped', reason, ...this.#ended() };
  }
  #failed(reason: string, detail: string, step: ProcessingStep = 'transformation'): Processed {
    this.#decisions.push({ step, result: 'failed', detail: detail.slice(0, 1_000) });
    // Uses the event from before user code and rules, so a replay does not apply them twice. Privacy rules are already applied.
    return { kind: 'failed', reason: reason.slice(0, 1_000), ...this.#ended(), ...(this.#before && { event: this.#before }) };
  }
  /** Handles a bug in our code: only this event fails, not the others. */
  broke(error: unknown): Processed {
    return this.#failed(`processing broke: ${error instanceof Error ? error.message : String(error)}`, 'internal error', 'processing');
  }
  #ended(): Ended {
    return { event: this.#event, decisions: this.#decisions, visitor: this.#state };
  }
}
