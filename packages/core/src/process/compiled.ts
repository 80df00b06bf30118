/**
 * Processing of the organisation and of a pipeline, compiled once when the snapshot loads. A piece that does not compile is disabled
 * and its faults are shown. The other pieces keep working.
 */
import type { DataLayerConfig, TrackingPlan, Transformation } from '../config/resources.ts';
import { type IdConsent, idConsentOf, type SyncRule } from '../context/vendor-syncs.ts';
import { type CompiledBots, compileBots } from '../privacy/bots.ts';
import { type CompiledConsent, compileConsent } from '../privacy/consent.ts';
import { type CompiledPii, compilePii } from '../privacy/pii.ts';
import { type CompiledTrackingPlan, compileTrackingPlan, type TrackingPlanResult } from '../tracking-plan/tracking-plan.ts';
import type { ConfigFault } from '../vendor/compiled.ts';
import type { CompiledCode } from './code.ts';
import { checkDataLayer, mergeDataLayer } from './data-layer.ts';
import { type ClickConsent, type CompiledMemory, compileMemory } from './memory.ts';
import { type CompiledRoutingRule, compileRouting } from './routing.ts';
import { type CompiledTransformation, compileTransformation, type TransformationResult } from './transformation.ts';

export interface CompiledOrganisation {
  config: DataLayerConfig;
  consent: CompiledConsent;
  bots: CompiledBots;
  pii: CompiledPii;
  session_timeout_ms: number;
  remember_traits: readonly string[];
  memory: CompiledMemory;
  custom_code: CompiledCode | undefined;
  routing: readonly CompiledRoutingRule[];
}
export interface CompiledProcessing {
  tracking_plan: CompiledTrackingPlan | undefined;
  /** Enabled transformations that compile, in `position` order. */
  transformations: readonly CompiledTransformation[];
  parameters: Record<string, string>;
  /** Of vendor ids in cookies. */
  id_consent: IdConsent;
}

export interface CompileOrganisationResult {
  /** False if there are `faults`. The organisation still works, without the faulty pieces. */
  ok: boolean;
  organisation: CompiledOrganisation;
  faults: ConfigFault[];
}

/** Absent sections and keys take their defaults. */
export function compileOrganisation(
  config: Partial<DataLayerConfig>,
  orgId = 'organisation',
  clickConsent: ClickConsent = {},
): CompileOrganisationResult {
  const shape = checkDataLayer(config);
  const merged = mergeDataLayer(config, shape);
  const faults: ConfigFault[] = [...shape];
  const organisation: CompiledOrganisation = {
    config: merged,
    consent: compileConsent(merged.consent),
    bots: compileBots(merged.bot_filtering, faults),
    pii: compilePii(merged.pii_rules, faults),
    session_timeout_ms: merged.session.timeout_minutes * 60_000,
    remember_traits: merged.identity.remember_traits,
    memory: compileMemory(merged.identity.click_id_days, clickConsent),
    custom_code: merged.custom_js.enabled ? { owner: orgId, code: merged.custom_js.code } : undefined,
    routing: compileRouting(merged.routing_rules, faults),
  };
  return { ok: faults.length === 0, organisation, faults };
}

/** Returns all faults of a data layer's config, for the API. The config may be stored if the list is empty. */
export function validateDataLayer(config: unknown): ConfigFault[] {
  const shape = checkDataLayer(config);
  return shape.length > 0 ? shape : compileOrganisation(config as Partial<DataLayerConfig>).faults;
}

export interface ProcessingSource {
  tracking_plan?: TrackingPlan | null;
  transformations: readonly Transformation[];
  parameters: Record<string, string>;
  syncs?: readonly SyncRule[];
}

export interface ProcessingResult {
  processing: CompiledProcessing;
  faults: ConfigFault[];
  warnings: string[];
}

export function compileProcessing(source: ProcessingSource): ProcessingResult {
  const plan = source.tracking_plan ? compileTrackingPlan(source.tracking_plan) : undefined;
  return assembleProcessing(source, plan, (transformation) => compileTransformation(transformation, source.parameters));
}

/** Takes compiled pieces, so changing one piece recompiles only that piece. */
export function assembleProcessing(
  source: ProcessingSource,
  plan: TrackingPlanResult | undefined,
  compiledOf: (transformation: Transformation) => TransformationResult,
): ProcessingResult {
  const faults: ConfigFault[] = [];
  const warnings: string[] = [];
  const transformations: CompiledTransformation[] = [];
  const inOrder = source.transformations.filter((one) => one.enabled).sort((a, b) => a.position - b.position);
  for (const transformation of inOrder) {
    const compiled = compiledOf(transformation);
    if (compiled.ok) {
      transformations.push(compiled.transformation);
      warnings.push(...compiled.warnings);
    } else
      faults.push(
        ...compiled.faults.map((fault) => ({ field: `transformations.${transformation.id}.${fault.field}`, message: fault.message })),
      );
  }
  for (const fault of plan?.faults ?? []) faults.push({ field: `tracking_plan.${fault.field}`, message: fault.message });
  return {
    processing: {
      tracking_plan: plan?.plan,
      transformations,
      parameters: source.parameters,
      id_consent: idConsentOf(source.syncs ?? []),
    },
    faults,
    warnings,
  };
}

export { validateTrackingPlanInSteps } from '../tracking-plan/tracking-plan.ts';
export { mergeDataLayer } from './data-layer.ts';
export { validateTransformation } from './transformation.ts';
