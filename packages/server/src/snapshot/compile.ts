/**
 * Compiles rows into a snapshot. Unchanged pieces are reused as the same compiled objects. The rest is compiled piece by piece, yielding
 * to the event loop in between, so that a large or hostile configuration blocks nothing.
 */
import { longFields } from '@firsthand/core/config/pipeline.ts';
import type { TrackingPlan } from '@firsthand/core/config/resources.ts';
import { readSyncs, unknownSyncs } from '@firsthand/core/context/vendor-syncs.ts';
import { isObject } from '@firsthand/core/json.ts';
import { assembleProcessing, type CompiledOrganisation, compileOrganisation } from '@firsthand/core/process/compiled.ts';
import type { ClickConsent } from '@firsthand/core/process/memory.ts';
import { compileTransformation, type TransformationResult } from '@firsthand/core/process/transformation.ts';
import { compileTrackingPlanInSteps, type TrackingPlanResult } from '@firsthand/core/tracking-plan/tracking-plan.ts';
import { MIN_SCRUBBED_IN_EVENTS, scrubber, secretParameterValues } from '@firsthand/core/vendor/secrets.ts';
import '../runtime/native-bytes.ts';
import { finishInTurns, turns } from '../runtime/turns.ts';
import { trackingPlanId } from '../stores/config/changed-documents.ts';
import type { ConfigRows, IntegrationWithConfig } from '../stores/config/load-config.ts';
import type { OpenParameters } from '../stores/config/pipeline-parameters.ts';
import { type CompileSettings, compileIntegration, type Report } from './compile-integration.ts';
import { compileIngestRules } from './ingest-rules.ts';
import { type CompileCache, Pieces, type SnapshotFault } from './pieces.ts';
import type { CompiledIntegration, CompiledPipeline, Snapshot } from './types.ts';
import { type CompiledWebhookSource, compileWebhookSource } from './webhook-source.ts';

/** All rows, including known rows that the loader skipped. */
export type CompleteRows = Pick<ConfigRows, 'version'> & {
  [K in 'organisations' | 'pipelines' | 'integrations' | 'transformations' | 'webhook_sources']: Complete<
    NonNullable<ConfigRows[K][number]['row']>
  >[];
};
export interface Complete<Row> {
  id: string;
  row_version: number;
  row: Row;
}

export async function compileSnapshot(
  rows: CompleteRows,
  settings: CompileSettings,
  before: CompileCache,
): Promise<{ snapshot: Snapshot; cache: CompileCache; faults: SnapshotFault[] }> {
  const pieces = new Pieces(before);

  await turns.bulk();
  const integrationRows = Map.groupBy(rows.integrations, ({ row }) => row.org_id);
  const consentOf = (id: string) => clickConsent(integrationRows.get(id) ?? []);
  const consentKey = (id: string) => JSON.stringify(consentOf(id));
  const organisations = new Map<string, CompiledOrganisation>();
  for (const { id, row_version, row } of rows.organisations)
    organisations.set(
      id,
      await pieces.compile(id, id, `${row_version}/${consentKey(id)}`, row.data_layer, (report, excess) => {
        const { organisation, faults: wrong } = compileOrganisation(excess === undefined ? row.data_layer : {}, id, consentOf(id));
        if (excess !== undefined) report('error', `data_layer: ${excess}`);
        for (const fault of [...(row.unreadable ?? []), ...wrong]) report('error', `${fault.field}: ${fault.message}`);
        return organisation;
      }),
    );

  await turns.bulk();
  const pipelines = new Map<string, CompiledPipeline>();
  const pipelinesByKey = new Map<string, CompiledPipeline>();
  const integrations = new Map<string, CompiledIntegration>();
  const integrationsOf = Map.groupBy(rows.integrations, ({ row }) => row.pipeline_id);
  const transformationsOf = Map.groupBy(rows.transformations, ({ row }) => row.pipeline_id);

  // Oldest first: where the organisation's budget is used up, the newest pieces are disabled.
  for (const pipelineRow of rows.pipelines.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const { id, row_version, row } = pipelineRow;
    // Also for unchanged pipelines: looking through ten thousand integrations takes a while.
    const turn = turns.bulk();
    if (turn !== undefined) await turn;
    const own = integrationsOf.get(id) ?? [];
    const steps = transformationsOf.get(id) ?? [];
    const opened: OpenParameters = { parameters: row.parameters, sealed: row.sealed_parameters ?? [] };
    const compiledIntegrations: CompiledIntegration[] = [];
    for (const integration of own)
      compiledIntegrations.push(
        await pieces.compile(
          row.org_id,
          integration.id,
          `${integration.row_version}/${row_version}`,
          integration.row.config,
          (report, excess) => compileIntegration(integration.row, opened, settings, report, excess),
          integration.row.event_filter,
        ),
      );
    const planId = trackingPlanId(id);
    const planKey = String(row.plan_version ?? row_version);
    const plan = await pieces.compile(row.org_id, planId, planKey, row.tracking_plan, (_report, excess) =>
      compilePlan(row.tracking_plan, excess),
    );
    const compiledSteps = new Map<string, TransformationResult>();
    for (const step of steps)
      compiledSteps.set(
        step.id,
        await pieces.compile(row.org_id, step.id, `${step.row_version}/${row_version}`, step.row, (_report, excess) =>
          excess === undefined
            ? compileTransformation(step.row, row.parameters)
            : { ok: false as const, faults: [{ field: 'rules', message: excess }] },
        ),
      );
    const key = [
      row_version,
      ...own.map((each) => `${each.id}:${each.row_version}`),
      ...steps.map((each) => `${each.id}:${each.row_version}`),
      ...[...own, ...steps].filter((each) => pieces.isOverBudget(each.id)).map((each) => `${each.id} over budget`),
      ...(pieces.isOverBudget(planId) ? ['plan over budget'] : []),
    ].join('/');
    const compile = (report: Report): CompiledPipeline => {
      const { pipeline_key_secret, tracking_plan, plan_version: _version, sealed_parameters: _sealed, unreadable = [], ...pipeline } = row;
      const readable = steps.filter((each) => each.row.unreadable === undefined);
      for (const fault of unreadable) report('error', `${fault.field}: ${fault.message}`);
      for (const { id: stepId, row: step } of steps)
        for (const fault of step.unreadable ?? []) report('error', `transformations.${stepId}.${fault.field}: ${fault.message}`);
      const source = {
        tracking_plan,
        transformations: readable.map((each) => each.row),
        parameters: pipeline.parameters,
        syncs: readSyncs(pipeline),
      };
      const {
        processing,
        faults: wrong,
        warnings,
      } = assembleProcessing(source, plan, (step) => compiledSteps.get(step.id) ?? compileTransformation(step, row.parameters));
      for (const fault of wrong) report('error', `${fault.field}: ${fault.message}`);
      for (const warning of [...warnings, ...unknownSyncs(pipeline)]) report('warning', warning);
      return {
        pipeline,
        ingest: compileIngestRules(pipeline, pipeline_key_secret, settings),
        processing,
        integrations: compiledIntegrations,
        ...secretsOf(opened),
      };
    };
    const compiled = await pieces.compile(row.org_id, id, key, undefined, compile, longFields(row));
    pipelines.set(id, compiled);
    pipelinesByKey.set(row.pipeline_key, compiled);
    for (const integration of compiledIntegrations) integrations.set(integration.integration.id, integration);
  }

  const webhookSources = new Map<string, CompiledWebhookSource>();
  for (const { id, row_version, row } of rows.webhook_sources) {
    const source = await pieces.compile(row.org_id, id, String(row_version), row, (report, excess) => {
      const result = row.unreadable
        ? { ok: false as const, faults: row.unreadable }
        : excess === undefined
          ? compileWebhookSource(row)
          : { ok: false as const, faults: [{ field: 'mappings', message: excess }] };
      if (result.ok) return result.source;
      for (const fault of result.faults) report('error', `${fault.field}: ${fault.message}`);
      return undefined;
    });
    if (source) webhookSources.set(id, source);
  }
  const snapshot = { version: rows.version, organisations, pipelines, pipelinesByKey, integrations, webhookSources, costs: pieces.costs };
  return { snapshot, cache: pieces.cache, faults: pieces.faults };
}

async function compilePlan(plan: TrackingPlan | null | undefined, excess: string | undefined): Promise<TrackingPlanResult | undefined> {
  if (!plan) return undefined;
  if (excess !== undefined) return { plan: { on_violation: 'allow', events: new Map() }, faults: [{ field: 'events', message: excess }] };
  return await finishInTurns(compileTrackingPlanInSteps(plan));
}

function secretsOf({ parameters, sealed }: OpenParameters): Pick<CompiledPipeline, 'secrets' | 'scrub'> {
  const secrets = secretParameterValues(parameters, sealed).filter(({ length }) => length >= MIN_SCRUBBED_IN_EVENTS);
  return { secrets, scrub: secrets.length === 0 ? undefined : scrubber(secrets) };
}

/** The consent that the organisation's enabled integrations require, per vendor. */
function clickConsent(integrations: readonly Complete<IntegrationWithConfig>[]): ClickConsent {
  const consent: ClickConsent = {};
  for (const { row } of integrations) {
    if (!row.enabled || row.vendor === '__proto__') continue;
    const configured = isObject(row.config) ? row.config.consent_category : undefined;
    const category = row.consent_category ?? (typeof configured === 'string' ? configured : null);
    const known = consent[row.vendor] ?? [];
    if (category === null || !known.includes(category)) consent[row.vendor] = category === null ? known : [...known, category].sort();
  }
  return consent;
}
