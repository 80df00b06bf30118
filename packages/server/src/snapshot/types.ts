/**
 * The immutable, compiled configuration that ingest, process and deliver work from. Replaced as a whole in one assignment; unchanged
 * pieces keep their identity. A broken piece is disabled and its faults are shown; it never stops the process.
 */
import type { Cost } from '@firsthand/core/config/budget.ts';
import type { Integration, Pipeline, WebhookSource } from '@firsthand/core/config/resources.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import type { CompiledOrganisation, CompiledProcessing } from '@firsthand/core/process/compiled.ts';
import type { CompiledVendor, ConfigFault } from '@firsthand/core/vendor/compiled.ts';
import type { IngestRules } from './ingest-rules.ts';
import type { CompiledWebhookSource } from './webhook-source.ts';

export interface CompiledIntegration {
  integration: Integration;
  /** The vendor's name in the catalog. */
  vendor_name?: string;
  /** Parameters substituted, secrets in the clear: never log this. */
  config: JsonObject;
  /** Values of `config` and of the pipeline's parameters that nobody may see. */
  secrets: readonly string[];
  /** Undefined if the config does not compile: `faults` says why, and the integration is `misconfigured`. Also where no role reads it. */
  vendor: CompiledVendor | undefined;
  faults: ConfigFault[];
  warnings: string[];
}
export interface CompiledPipeline {
  pipeline: Pipeline;
  /** Compiled rules for origins, addresses, signatures and challenge tokens. */
  ingest: IngestRules;
  /** Compiled tracking plan and transformations. */
  processing: CompiledProcessing;
  integrations: CompiledIntegration[];
  /** The values of secret parameters that are masked where events are shown. */
  secrets: readonly string[];
  /** Masks them in a text. Undefined if the pipeline has none. */
  scrub: ((text: string) => string) | undefined;
}
export interface Snapshot {
  version: number;
  organisations: ReadonlyMap<string, CompiledOrganisation>;
  pipelines: ReadonlyMap<string, CompiledPipeline>;
  pipelinesByKey: ReadonlyMap<string, CompiledPipeline>;
  integrations: ReadonlyMap<string, CompiledIntegration>;
  webhookSources: ReadonlyMap<string, CompiledWebhookSource>;
  costs: ConfigurationCosts;
}
export interface ConfigurationCosts {
  /** By id of the resource; `trackingPlanId` for a tracking plan. */
  pieces: ReadonlyMap<string, Cost>;
  organisations: ReadonlyMap<string, Cost>;
}
export interface SnapshotSource {
  current(): Snapshot;
  /** Called after each replacement of the snapshot. */
  onChange(listener: (snapshot: Snapshot) => void): () => void;
}
export type { WebhookSource };
