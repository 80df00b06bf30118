/** What events must look like: a JSON Schema per event. The text is checked by the compiler of the service, in the browser. */

import type { TrackingPlan } from '@firsthand/core/config/resources.ts';
import { validateTrackingPlan } from '@firsthand/core/process/compiled.ts';
import { Alert, Button, Group, Select, Stack } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { api, call } from '../../api.ts';
import { Editor } from '../../components/editor.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { failureText } from '../../forms.ts';
import { useMay } from '../../session/use-session.ts';

export function TrackingPlanTab({ pipelineId }: { pipelineId: string }) {
  const query = useQuery({
    queryKey: ['tracking-plan', pipelineId],
    queryFn: async () =>
      (await call(api.GET('/v1/admin/pipelines/{id}/tracking-plan', { params: { path: { id: pipelineId } } }))) as TrackingPlan,
  });
  if (query.isPending) return <Loading what="the tracking plan" />;
  if (query.isError) return <Failed error={query.error} retry={() => void query.refetch()} />;
  return <Edit key={JSON.stringify(query.data)} pipelineId={pipelineId} plan={query.data} />;
}

function Edit({ pipelineId, plan }: { pipelineId: string; plan: TrackingPlan }) {
  const queries = useQueryClient();
  const may = useMay('editor');
  const [onViolation, setOnViolation] = useState(plan.on_violation);
  const [text, setText] = useState(() => JSON.stringify(plan.events, null, 2));
  const checked = useMemo(() => check(text, onViolation), [text, onViolation]);
  const save = useMutation({
    mutationFn: () =>
      call(
        api.PUT('/v1/admin/pipelines/{id}/tracking-plan', {
          params: { path: { id: pipelineId } },
          body: { events: checked.events, on_violation: onViolation } as never,
        }),
      ),
    onSuccess: async () => {
      notifications.show({ message: 'Saved.' });
      await queries.invalidateQueries({ queryKey: ['tracking-plan', pipelineId] });
    },
    onError: (error) => notifications.show({ color: 'red', title: 'Not saved', message: failureText(error) }),
  });
  return (
    <section className="panel" style={{ padding: 16 }} aria-label="Tracking plan">
      <Stack gap="sm">
        <Group>
          <Select
            label="An event that does not fit"
            w={260}
            allowDeselect={false}
            disabled={!may}
            value={onViolation}
            data={[
              { value: 'allow', label: 'is delivered as it is' },
              { value: 'flag', label: 'is delivered and flagged' },
              { value: 'drop', label: 'is dropped' },
            ]}
            onChange={(next) => setOnViolation(next as TrackingPlan['on_violation'])}
          />
          <Button
            mt="lg"
            onClick={() => save.mutate()}
            loading={save.isPending}
            disabled={!may || checked.faults.length > 0}
            title={may ? undefined : 'Needs the role editor'}
          >
            Save
          </Button>
        </Group>
        <p className="dim">By event name, the JSON Schema of its properties. @page, @identify and @group stand for the other types.</p>
        <Editor label="Tracking plan" language="json" value={text} onChange={setText} minHeight={360} readOnly={!may} />
        {checked.faults.map(({ field, message }) => (
          <Alert key={`${field} ${message}`} color="red">
            <b>{field}</b> {message}
          </Alert>
        ))}
      </Stack>
    </section>
  );
}
function check(text: string, on_violation: string): { events: unknown; faults: { field: string; message: string }[] } {
  try {
    const events: unknown = JSON.parse(text);
    return { events, faults: validateTrackingPlan({ events, on_violation }).slice(0, 10) };
  } catch (error) {
    return { events: undefined, faults: [{ field: '', message: error instanceof Error ? error.message : String(error) }] };
  }
}
