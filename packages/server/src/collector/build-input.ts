/** What a pipeline's build is made from, taken from the same compiled configuration that the server itself runs on. */
import { loadedVendor } from '@firsthand/catalog/index.ts';
import { type BuildInput, type ClientSideInput, CollectorConfigError } from '@firsthand/collector/build/builder.ts';
import type { CompiledIntegration, Snapshot } from '../snapshot/types.ts';

/** Undefined where the pipeline is gone. */
export function buildInput(snapshot: Snapshot, pipelineId: string, ingestUrl: string | undefined): BuildInput | undefined {
  const compiled = snapshot.pipelines.get(pipelineId);
  if (compiled === undefined) return undefined;
  const { pipeline, integrations } = compiled;
  const mapping = snapshot.organisations.get(pipeline.org_id)?.config.consent.mapping;
  return {
    pipeline,
    ...(ingestUrl === undefined ? {} : { ingest_url: ingestUrl }),
    ...(mapping === undefined ? {} : { consent_mapping: mapping }),
    // They come in the order of their ids, so the same configuration always gives the same bytes.
    client_side: integrations
      .filter(({ integration }) => integration.enabled && integration.delivery_mode === 'client_side')
      .map(clientSide),
  };
}

/** That no secret is among the config is the builder's to check: it refuses, so that nobody believes one is safe in a page. */
function clientSide({ integration, config }: CompiledIntegration): ClientSideInput {
  const { id, vendor, consent_category, event_filter } = integration;
  const definition = loadedVendor(vendor);
  if (definition === undefined) throw new CollectorConfigError(`${id}: there is no vendor ${vendor} in the catalog`);
  return { integration_id: id, vendor, config, definition, consent_category, event_filter };
}
