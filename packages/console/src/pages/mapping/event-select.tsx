import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
import { clockTime } from '../../format.ts';
import { failureText } from '../../forms.ts';
import { type ChosenEvent, isTestCase } from './chosen-event.ts';
import { sampleEvent } from './recent-events.ts';

const LISTED = 50;

/** The sample order, saved test cases and recent events. The address holds the choice. */
export function EventSelect({
  chosen,
  recent,
  pipelineId,
}: {
  chosen: ChosenEvent;
  recent: readonly CanonicalEvent[];
  pipelineId: string | undefined;
}) {
  const cases = useQuery({
    queryKey: ['test-cases', pipelineId],
    queryFn: () =>
      call(
        api.GET('/v1/admin/test-cases', {
          params: { query: { limit: 100, ...(pipelineId === undefined ? {} : { pipeline_id: pipelineId }) } },
        }),
      ),
  });
  const saved = cases.data?.test_cases.map(({ id, name }) => ({ value: id, label: name })) ?? [];
  const events = recent
    .slice(0, LISTED)
    .map((one) => ({ value: one.event_id, label: `${one.event ?? one.type} · ${clockTime(one.timestamp).slice(0, -4)}` }));
  // A link may lead to one that is older than the list.
  const own = isTestCase(chosen.id) ? saved : events;
  if (chosen.id !== sampleEvent.event_id && !own.some(({ value }) => value === chosen.id))
    own.push({ value: chosen.id, label: isTestCase(chosen.id) ? chosen.id : `${chosen.event.event ?? chosen.event.type} · ${chosen.id}` });
  return (
    <Select
      size="xs"
      w={200}
      aria-label="Choose an event"
      allowDeselect={false}
      searchable
      error={chosen.failure === undefined ? undefined : failureText(chosen.failure)}
      value={chosen.id}
      data={[
        { group: 'Samples', items: [{ value: sampleEvent.event_id, label: 'Sample order' }] },
        { group: 'Test cases', items: saved },
        { group: 'Recent events', items: events },
      ]}
      onChange={(id) => id !== null && chosen.choose(id)}
    />
  );
}
