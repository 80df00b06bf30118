/** The requests of an event to an integration, rebuilt by the delivery code from the revisions that sent them. Secrets stay masked. */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { useQuery } from '@tanstack/react-query';
import { api, call, RefusedError } from '../../api.ts';
import { Failed, Loading } from '../../components/states.tsx';
import { VendorRequests } from '../../components/vendor-requests.tsx';
import { type Integration, pipelineQuery } from '../../queries.ts';
import { compileDraft, loadDefinition, rehearse } from '../mapping/rehearse.ts';
import type { Explained } from './event-query.ts';
import { builtBy, differencesOf, type SentBy, sentBy } from './sent-by.ts';

interface Props {
  event: Record<string, unknown>;
  pipelineId: string;
  integration: Integration;
}

export function DeliveryRequests({ delivery, ...props }: Props & { delivery: Explained['deliveries'][number] }) {
  return sentBy(delivery).map((sent) => <DeliveryRequest key={sent.attempts.join()} sent={sent} {...props} />);
}

function DeliveryRequest({ event, pipelineId, integration, sent }: Props & { sent: SentBy }) {
  const { template_id: id, revision_number: pinned, vendor } = integration;
  const number = sent.revision ?? pinned;
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
      return {
        ...compileDraft(definition, revision.config, pipeline.data?.parameters ?? {}),
        usesParameters: JSON.stringify(revision.config).includes('pipeline_param.'),
      };
    },
  });
  if (compiled.error instanceof RefusedError && compiled.error.code === 'NOT_FOUND')
    return <p className="dim">Revision {number} is no longer there, so its request cannot be rebuilt.</p>;
  if (compiled.isLoadingError) return <Failed error={compiled.error} retry={() => void compiled.refetch()} />;
  if (compiled.data === undefined || pipeline.data === undefined) return <Loading what="the request" />;
  const made = compiled.data;
  if (!made.ok)
    return (
      <p className="dim">
        Revision {number} does not compile: {made.faults[0]?.message}
      </p>
    );
  const stored = event as unknown as CanonicalEvent; // the API returns what processing stored
  const facts = {
    usesParameters: made.usesParameters,
    pipelineChangedAt: pipeline.data.updated_at,
    isBatched: made.vendor.batch !== null,
    keepsBatches: made.vendor.transport?.sealed === true,
  };
  return (
    <>
      <p className="dim">
        {builtBy(sent, pinned)} {differencesOf(sent, facts).join(' ')}
      </p>
      <VendorRequests result={rehearse(made.vendor, stored, sent.at ?? Date.now(), sent.attempts.at(-1))} />
    </>
  );
}
