/** The input of a pipeline's build, taken from the same compiled configuration that the server runs on. */
import { loadedVendor } from '@firsthand/catalog/index.ts';
import { type BuildInput, type ClientSideInput, CollectorConfigError } from '@firsthand/collector/build/builder.ts';
import type { CompiledIntegration, Snapshot } from '../snapshot/types.ts';

/** Undefined if the pipeline no longer exists. */
export function buildInput(snapshot: Snapshot, pipelineId: string, ingestUrl: string | undefined): BuildInput | undefined {
  const compiled = snapshot.pipelines.get(pipelineId);
  if (compiled === undefined) return undefined;
  const { pipeline, integrations } = compiled;
  const mapping = snapshot.organisations.get(pipeline.org_id)?.config.consent.mapping;
  return {
    pipeline,
    ...(ingestUrl === undefined ? {} : { ingest_url: ingestUrl }),
    ...(mapping === undefined ? {} : { consent_mapping: mapping }),
    // Ordered by id, so that the same configuration always gives the same bytes.
    client_side: integrations
      .filter(({ integration }) => integration.enabled && integration.delivery_mode === 'client_side')
      .map(clientSide),
  };
}

/** The builder checks that the config contains no secret and rejects it otherwise, because everything in a page is public. */
function clientSide({ integration, config }: CompiledIntegration): ClientSideInput {
  const { id, vendor, consent_category, event_filter } = integration;
  const definition = loadedVendor(vendor);
  if (definition === undefined) throw new CollectorConfigError(`${id}: there is no vendor ${vendor} in the catalog`);
  return { integration_id: id, vendor, config, definition, consent_category, event_filter };
}
