/**
 * Compiles rows into a snapshot. Unchanged pieces are reused as the same compiled objects. The rest is compiled piece by piece, yielding
 * to the event loop in between, so that a large or hostile configuration blocks nothing.
 */
import { gzipSync } from 'node:zlib';
import { loadedVendor } from '@firsthand/catalog/index.ts';
import { addCost, type Cost, NO_COST, organisationExcess } from '@firsthand/core/config/budget.ts';
import type { Integration, TrackingPlan } from '@firsthand/core/config/resources.ts';
import { readSyncs } from '@firsthand/core/context/vendor-syncs.ts';
import { isObject, type JsonObject } from '@firsthand/core/json.ts';
import { leftPlaceholders, missingParameter } from '@firsthand/core/mapping/parameters/placeholder.ts';
import { substitute } from '@firsthand/core/mapping/parameters/substitute.ts';
import type { CompiledOrganisation } from '@firsthand/core/process/compiled.ts';
import { assembleProcessing, compileOrganisation } from '@firsthand/core/process/compiled.ts';
import type { ClickConsent } from '@firsthand/core/process/memory.ts';
import { compileTransformation, type TransformationResult } from '@firsthand/core/process/transformation.ts';
import { compileTrackingPlanInSteps, type TrackingPlanResult } from '@firsthand/core/tracking-plan/tracking-plan.ts';
import { type CompileOptions, compileVendorInSteps } from '@firsthand/core/vendor/compile.ts';
import type { CompiledVendor, CompileResult } from '@firsthand/core/vendor/compiled.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import {
  isSecretParameter,
  MIN_SCRUBBED_IN_EVENTS,
  scrubber,
  secretParameterValues,
  secretValues,
} from '@firsthand/core/vendor/secrets.ts';
import type { Settings } from '../config.ts';
import '../runtime/native-bytes.ts';
import { privateKeys } from '../runtime/private-keys.ts';
import { atStep } from '../runtime/stall-watch.ts';
import { finishInTurns, turns } from '../runtime/turns.ts';
import type { ConfigRows, IntegrationWithConfig } from '../stores/config/load-config.ts';
import type { OpenParameters } from '../stores/config/pipeline-parameters.ts';
import { ConfigMemo } from './config-memo.ts';
import { compileIngestRules } from './ingest-rules.ts';
import { prepareConfiguration } from './prepare.ts';
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

/** Why a piece of configuration is disabled, or works with a warning. */
export interface SnapshotFault {
  severity: 'error' | 'warning';
  resource: string;
  id: string;
  message: string;
}
interface Cached {
  key: string;
  /** The key and, where the organisation's budget is used up, that it is. */
  madeFor: string;
  cost: Cost;
  /** Why the document alone is too large. */
  excess: string | undefined;
  value: unknown;
  faults: SnapshotFault[];
}
export type CompileCache = Map<string, Cached>;
export type CompileSettings = Pick<Settings, 'mode' | 'allowPrivateDestinations' | 'natsUrl'> & {
  /** False where no role reads compiled vendors: their compilation is most of the work of a load. */
  compilesVendors?: boolean;
};

type Report = (severity: SnapshotFault['severity'], message: string) => void;

export async function compileSnapshot(
  rows: CompleteRows,
  settings: CompileSettings,
  before: CompileCache,
): Promise<{ snapshot: Snapshot; cache: CompileCache; faults: SnapshotFault[] }> {
  const cache: CompileCache = new Map();
  const faults: SnapshotFault[] = [];

  const measured = new Map<unknown, ReturnType<typeof measure>>();
  /** Measures a document that several integrations share once. */
  function measureOnce(source: unknown): ReturnType<typeof measure> {
    const known = measured.get(source);
    if (known !== undefined) return known;
    const measuring = measure(source);
    measured.set(source, measuring);
    return measuring;
  }

  const overBudget = new Set<string>();
  const pieces = new Map<string, Cost>();
  const totals = new Map<string, Cost>();
  /** Counts a piece towards its organisation's budget, or returns why it does not fit any more. */
  function spend(orgId: string, pieceId: string, cost: Cost): string | undefined {
    const total = addCost(totals.get(orgId) ?? NO_COST, cost);
    const over = organisationExcess(total);
    if (over !== undefined) return over.message;
    totals.set(orgId, total);
    pieces.set(pieceId, addCost(pieces.get(pieceId) ?? NO_COST, cost));
    return undefined;
  }

  /** Reuses the piece of the last snapshot or compiles a new one. `source` is checked against the budgets before `make` runs. */
  async function once<T>(
    orgId: string,
    id: string,
    key: string,
    source: unknown,
    make: (report: Report, excess: string | undefined) => T | Promise<T>,
  ): Promise<T> {
    let hit = before.get(id);
    const known = hit?.key === key ? hit : await measureOnce(source);
    const over = spend(orgId, id.split('/', 1)[0] ?? id, known.cost);
    if (over !== undefined) overBudget.add(id);
    const madeFor = over === undefined ? key : `${key}/${over}`;
    if (hit?.madeFor !== madeFor) {
      const found: SnapshotFault[] = [];
      const [resource = id] = id.split('_', 1);
      const report: Report = (severity, message) => found.push({ severity, resource, id, message });
      const turn = turns.bulk();
      if (turn !== undefined) await turn;
      atStep('snapshot', id);
      const { cost, excess } = known;
      hit = { key, madeFor, cost, excess, value: await make(report, excess ?? over), faults: found };
    }
    cache.set(id, hit);
    faults.push(...hit.faults);
    return hit.value as T;
  }

  await turns.bulk();
  const integrationRows = Map.groupBy(rows.integrations, ({ row }) => row.org_id);
  const consentOf = (id: string) => clickConsent(integrationRows.get(id) ?? []);
  const consentKey = (id: string) => JSON.stringify(consentOf(id));
  const organisations = new Map<string, CompiledOrganisation>();
  for (const { id, row_version, row } of rows.organisations)
    organisations.set(
      id,
      await once(id, id, `${row_version}/${consentKey(id)}`, row.data_layer, (report, excess) => {
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
        await once(row.org_id, integration.id, `${integration.row_version}/${row_version}`, integration.row.config, (report, excess) =>
          compileIntegration(integration.row, opened, settings, report, excess),
        ),
      );
    const plan = await once(row.org_id, `${id}/tracking_plan`, String(row_version), row.tracking_plan, (_report, excess) =>
      compilePlan(row.tracking_plan, excess),
    );
    const compiledSteps = new Map<string, TransformationResult>();
    for (const step of steps)
      compiledSteps.set(
        step.id,
        await once(row.org_id, step.id, `${step.row_version}/${row_version}`, step.row, (_report, excess) =>
          excess === undefined
            ? compileTransformation(step.row, row.parameters)
            : { ok: false as const, faults: [{ field: 'rules', message: excess }] },
        ),
      );
    const key = [
      row_version,
      ...own.map((each) => `${each.id}:${each.row_version}`),
      ...steps.map((each) => `${each.id}:${each.row_version}`),
      ...[...own, ...steps].filter((each) => overBudget.has(each.id)).map((each) => `${each.id} over budget`),
      ...(overBudget.has(`${id}/tracking_plan`) ? ['plan over budget'] : []),
    ].join('/');
    const compiled = await once<CompiledPipeline>(row.org_id, id, key, undefined, (report) => {
      const { pipeline_key_secret, tracking_plan, sealed_parameters: _sealed, unreadable = [], ...pipeline } = row;
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
      for (const warning of warnings) report('warning', warning);
      return {
        pipeline,
        ingest: compileIngestRules(pipeline, pipeline_key_secret, settings),
        processing,
        integrations: compiledIntegrations,
        scrub: scrubberOf(opened),
      };
    });
    pipelines.set(id, compiled);
    pipelinesByKey.set(row.pipeline_key, compiled);
    for (const integration of compiledIntegrations) integrations.set(integration.integration.id, integration);
  }

  const webhookSources = new Map<string, CompiledWebhookSource>();
  for (const { id, row_version, row } of rows.webhook_sources) {
    const source = await once(row.org_id, id, String(row_version), row, (report, excess) => {
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
  const costs = { pieces, organisations: totals };
  const snapshot = { version: rows.version, organisations, pipelines, pipelinesByKey, integrations, webhookSources, costs };
  return { snapshot, cache, faults };
}

async function measure(source: unknown): Promise<Pick<Cached, 'cost' | 'excess'>> {
  const { cost, excess } = await prepareConfiguration(source);
  return { cost, excess: excess?.message };
}

async function compilePlan(plan: TrackingPlan | null | undefined, excess: string | undefined): Promise<TrackingPlanResult | undefined> {
  if (!plan) return undefined;
  if (excess !== undefined) return { plan: { on_violation: 'allow', events: new Map() }, faults: [{ field: 'events', message: excess }] };
  return await finishInTurns(compileTrackingPlanInSteps(plan));
}

export async function compileIntegration(
  { config: stored, unreadable, ...integration }: IntegrationWithConfig,
  { parameters, sealed }: OpenParameters,
  settings: CompileSettings,
  report: Report,
  excess?: string,
): Promise<CompiledIntegration> {
  if (settings.compilesVendors === false) return { integration, config: {}, secrets: [], vendor: undefined, faults: [], warnings: [] };
  const shapely = isObject(stored);
  // A client-side config is published with the collector, so it gets no secret parameter.
  const published = integration.delivery_mode === 'client_side';
  const visible = published ? publicParameters({ parameters, sealed }) : parameters;
  const { config, missing } = substituted(shapely ? stored : {}, visible);
  const parameterSecrets = secretParameterValues(parameters, sealed);
  const definition = loadedVendor(integration.vendor);
  const secrets = [...secretsOnce(definition, config), ...parameterSecrets];
  const warnings = missing.map(missingParameter);
  const off = (faults: CompiledIntegration['faults']): CompiledIntegration => {
    for (const fault of faults) report('error', `${fault.field}: ${fault.message}`);
    return { integration, config, secrets, vendor: undefined, faults, warnings };
  };
  if (unreadable) return off(unreadable);
  if (excess !== undefined) return off([{ field: 'config', message: excess }]);
  if (!shapely) return off([{ field: 'config', message: 'The stored value is not an object.' }]);
  const hidden = published ? missing.filter((name) => Object.hasOwn(parameters, name)) : [];
  if (hidden.length > 0)
    return off(
      hidden.map((name) => ({ field: 'config', message: `The parameter ${name} is secret, and a client-side config is public.` })),
    );
  for (const warning of warnings) report('warning', warning);
  if (!definition) return off([{ field: 'vendor', message: `There is no vendor ${integration.vendor} in the catalog.` }]);
  const result = await compileOnce(definition, config, {
    mode: settings.mode,
    allow_private: settings.allowPrivateDestinations,
    secrets: parameterSecrets,
    pipeline_id: integration.pipeline_id,
  });
  if (!result.ok) return off([...result.missing, ...result.invalid]);
  const consent = consentWarnings(definition, integration.consent_category ?? result.vendor.consent_category);
  // The vendor also warns of missing parameters.
  const found = [...result.vendor.warnings, ...consent].filter((warning) => !warnings.includes(warning));
  for (const warning of found) report('warning', warning);
  const vendor = { ...result.vendor, concurrency: inFlightOf(integration, result.vendor) };
  return { integration, vendor_name: definition.name, config, secrets, vendor, faults: [], warnings: [...warnings, ...found] };
}

const placeholders = new ConfigMemo<boolean>();
const ownSecrets = new ConfigMemo<string[]>();
const compiledVendors = new ConfigMemo<CompileResult>();

/** A config without placeholders stays the same object, so that its results are found again. */
function substituted(stored: JsonObject, parameters: Readonly<Record<string, string>>): ReturnType<typeof substitute> {
  const has = placeholders.get(stored, '') ?? placeholders.set(stored, '', leftPlaceholders(stored).length > 0);
  return has ? substitute(stored, parameters) : { config: stored, missing: [] };
}

function secretsOnce(definition: VendorDefinition | undefined, config: JsonObject): readonly string[] {
  if (definition === undefined) return secretValues(definition, config);
  return ownSecrets.get(config, definition.key) ?? ownSecrets.set(config, definition.key, secretValues(definition, config));
}

/**
 * A compiled vendor holds no state, so integrations with the same config share it; not where it depends on the pipeline, by its secret
 * parameters or in the folder names of a driver.
 */
async function compileOnce(definition: VendorDefinition, config: JsonObject, options: CompileOptions): Promise<CompileResult> {
  const shared = definition.transport === undefined && options.secrets?.length === 0;
  const key = JSON.stringify([definition.key, options.mode, options.allow_private]);
  const known = shared ? compiledVendors.get(config, key) : undefined;
  if (known !== undefined) return known;
  const result = await finishInTurns(compileVendorInSteps(definition, config, { ...options, gzip: gzipSync, keys: privateKeys }));
  return shared ? compiledVendors.set(config, key, result) : result;
}

/** A driver's own number is a limit of its protocol or its order; that of an HTTP vendor is only a default. */
function inFlightOf({ max_in_flight }: Integration, { concurrency, transport }: CompiledVendor): number {
  if (max_in_flight === null) return concurrency;
  return transport === undefined ? max_in_flight : Math.min(max_in_flight, concurrency);
}

function publicParameters({ parameters, sealed }: OpenParameters): Record<string, string> {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !isSecretParameter(name) && !sealed.includes(name)));
}
function scrubberOf({ parameters, sealed }: OpenParameters): CompiledPipeline['scrub'] {
  const secrets = secretParameterValues(parameters, sealed).filter(({ length }) => length >= MIN_SCRUBBED_IN_EVENTS);
  return secrets.length === 0 ? undefined : scrubber(secrets);
}

/** Warns about advertising integrations without a consent category: they receive events of visitors who did not consent. */
function consentWarnings(
  { group, default_consent_category: proposed = 'advertising' }: VendorDefinition,
  category: string | null,
): string[] {
  if (category !== null || (group !== 'advertising' && group !== 'affiliate')) return [];
  return [
    `No consent category is set: events are delivered without the visitor’s consent to advertising. Set consent_category, for example to ${proposed}.`,
  ];
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
