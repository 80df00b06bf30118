/** The request of an event to an integration, rebuilt by the delivery code from the pinned revision. Secrets stay masked. */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { useQuery } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
import { Failed, Loading } from '../../components/states.tsx';
import { VendorRequests } from '../../components/vendor-requests.tsx';
import { type Integration, pipelineQuery } from '../../queries.ts';
import { compileDraft, loadDefinition, rehearse } from '../mapping/rehearse.ts';

export function DeliveryRequest({
  event,
  pipelineId,
  integration,
}: {
  event: Record<string, unknown>;
  pipelineId: string;
  integration: Integration;
}) {
  const { template_id: id, revision_number: number, vendor } = integration;
  const pipeline = useQuery(pipelineQuery(pipelineId));
  const compiled = useQuery({
    queryKey: ['compiled-revision', id, number, pipeline.data?.parameters],
    enabled: pipeline.data !== undefined,
    staleTime: Infinity,
    structuralSharing: false,
    queryFn: async () => {
      const [definition, revision] = await Promise.all([
        loadDefinition(vendor),
        call(api.GET('/v1/admin/integration-templates/{id}/revisions/{number}', { params: { path: { id, number: String(number) } } })),
      ]);
      if (definition === null) throw new Error(`The catalog has no vendor ${vendor}.`);
      return compileDraft(definition, revision.config, pipeline.data?.parameters ?? {});
    },
  });
  if (compiled.isLoadingError) return <Failed error={compiled.error} retry={() => void compiled.refetch()} />;
  if (compiled.data === undefined) return <Loading what="the request" />;
  if (!compiled.data.ok)
    return (
      <p className="dim">
        Revision {number} does not compile: {compiled.data.faults[0]?.message}
      </p>
    );
  const stored = event as unknown as CanonicalEvent; // the API returns what processing stored
  return (
    <>
      <p className="dim">As revision {number}, which is pinned now, builds it. Secrets are masked.</p>
      <VendorRequests result={rehearse(compiled.data.vendor, stored, Date.now())} />
    </>
  );
}
