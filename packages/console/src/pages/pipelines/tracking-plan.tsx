/** What events must look like: a JSON Schema per event. The text is checked by the compiler of the service, in the browser. */
import type { TrackingPlan } from '@firsthand/core/config/resources.ts';
import { validateTrackingPlanInSteps } from '@firsthand/core/process/compiled.ts';
import { finish } from '@firsthand/core/steps.ts';
import { Alert, Group, Select, Stack, Table, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useDeferredValue, useMemo, useState } from 'react';
import { api, call } from '../../api.ts';
import { Conflict, isConflict, readTheirs } from '../../components/conflict.tsx';
import { Editor } from '../../components/editor.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { placeFaults, syntaxFault, type TextFault } from '../../components/text-faults.ts';
import { number } from '../../format.ts';
import { fieldErrors } from '../../forms.ts';
import { openConfirmModal } from '../../open-confirm-modal.ts';
import { useMay } from '../../session/use-session.ts';
import { useUnsaved } from '../../use-unsaved.ts';
import { TRIAL_PAGES, useRecentEvents } from '../mapping/recent-events.ts';
import classes from './consent.module.css';
import { type PlanEffect, planEffect } from './plan-effect.ts';

interface Stored {
  plan: TrackingPlan;
  /** Names the version that was read. */
  etag: string;
}
const planQuery = (pipelineId: string) => ({
  queryKey: ['tracking-plan', pipelineId],
  queryFn: () => storedOf(api.GET('/v1/admin/pipelines/{id}/tracking-plan', { params: { path: { id: pipelineId } } })),
});
async function storedOf(answer: Promise<{ data?: unknown; error?: unknown; response: Response }>): Promise<Stored> {
  const plan = (await call(answer)) as TrackingPlan;
  return { plan, etag: (await answer).response.headers.get('etag') ?? '*' };
}
const textOf = (plan: TrackingPlan): string => JSON.stringify(plan.events, null, 2);

export function TrackingPlanTab({ pipelineId }: { pipelineId: string }) {
  const query = useQuery(planQuery(pipelineId));
  if (query.isPending) return <Loading what="the tracking plan" />;
  if (query.isLoadingError) return <Failed error={query.error} retry={() => void query.refetch()} />;
  return <Edit key={pipelineId} pipelineId={pipelineId} first={query.data} />;
}

/** Keeps what it started from: a newer version that is read meanwhile must not replace what is being typed. */
function Edit({ pipelineId, first }: { pipelineId: string; first: Stored }) {
  const queries = useQueryClient();
  const may = useMay('editor');
  const [stored, setStored] = useState(first);
  const [onViolation, setOnViolation] = useState(first.plan.on_violation);
  const [text, setText] = useState(() => textOf(first.plan));
  const [theirs, setTheirs] = useState<Stored>();
  const checked = useMemo(() => check(text, onViolation), [text, onViolation]);
  const dirty = text !== textOf(stored.plan) || onViolation !== stored.plan.on_violation;
  useUnsaved(dirty);
  /** What was typed after `sent` stays. */
  function startFrom(next: Stored, sent?: { text: string; onViolation: TrackingPlan['on_violation'] }) {
    setStored(next);
    setOnViolation((now) => (sent !== undefined && now !== sent.onViolation ? now : next.plan.on_violation));
    setText((now) => (sent !== undefined && now !== sent.text ? now : textOf(next.plan)));
    setTheirs(undefined);
  }
  const save = useMutation({
    mutationFn: (etag: string) =>
      storedOf(
        api.PUT('/v1/admin/pipelines/{id}/tracking-plan', {
          params: { path: { id: pipelineId }, header: { 'if-match': etag } },
          body: { events: checked.events, on_violation: onViolation } as never,
        }),
      ),
    onMutate: () => ({ text, onViolation }),
    onSuccess: (saved, _etag, sent) => {
      notifications.show({ message: 'Saved.' });
      queries.setQueryData(planQuery(pipelineId).queryKey, saved);
      startFrom(saved, sent);
    },
    onError: async (error) => {
      if (isConflict(error)) setTheirs(await readTheirs(planQuery(pipelineId).queryFn));
    },
  });
  const recent = useRecentEvents(pipelineId, TRIAL_PAGES).events;
  const shown = useDeferredValue(checked);
  const effect = useMemo(() => (shown.faults.length > 0 ? undefined : planEffect(shown.events, recent)), [shown, recent]);
  function ask() {
    if (onViolation !== 'drop') return save.mutate(stored.etag);
    openConfirmModal({
      title: 'Drop events that do not fit?',
      children: `They then reach no integration. Of the last ${number(recent.length)} events of this pipeline ${number(planEffect(checked.events, recent).violating)} do not fit.`,
      labels: { confirm: 'Save', cancel: 'Keep' },
      confirmProps: { color: 'red' },
      onConfirm: () => save.mutate(stored.etag),
    });
  }
  /** What the service refused of the text that is still there. */
  const refused = save.isError && !isConflict(save.error) ? Object.entries(fieldErrors(save.error, '')) : [];
  const isSent = save.context?.text === text && save.context.onViolation === onViolation;
  const inText = refused.filter(([field]) => isSent && field.startsWith('events')).map(([field, message]) => ({ field, message }));
  const atSelect = isSent ? refused.find(([field]) => field === 'on_violation')?.[1] : undefined;
  const general = refused.filter(([field]) => !field.startsWith('events') && field !== 'on_violation');
  const faults = checked.faults.length > 0 ? checked.faults : placeFaults(text, inText, 'events');
  return (
    <div className={classes.columns}>
      <section className="panel" style={{ padding: 16 }} aria-label="Tracking plan">
        <Stack gap="sm">
          {theirs !== undefined && (
            <Conflict
              what="the tracking plan"
              theirs={theirs.plan}
              mine={{ events: checked.events ?? text, on_violation: onViolation }}
              busy={save.isPending}
              onTakeTheirs={() => startFrom(theirs)}
              onKeepMine={() => save.mutate(theirs.etag)}
            />
          )}
          <Group align="flex-end" gap="xs">
            <Select
              label="An event that does not fit"
              w={260}
              allowDeselect={false}
              disabled={!may}
              value={onViolation}
              error={atSelect}
              data={[
                { value: 'allow', label: 'is delivered as it is' },
                { value: 'flag', label: 'is delivered and flagged' },
                { value: 'drop', label: 'is dropped' },
              ]}
              onChange={(next) => setOnViolation(next as TrackingPlan['on_violation'])}
            />
            <RoleButton
              needs="editor"
              size="sm"
              onClick={ask}
              loading={save.isPending}
              disabled={!dirty || checked.faults.length > 0 || theirs !== undefined}
            >
              Save
            </RoleButton>
          </Group>
          <Text size="sm" c="var(--dim)">
            By event name, the JSON Schema of its properties. @page, @identify and @group stand for the other types.
          </Text>
          <Editor label="Tracking plan" language="json" value={text} onChange={setText} minHeight={360} readOnly={!may} faults={faults} />
          {general.map(([field, message]) => (
            <Alert key={field} color="red" role="alert" title="Not saved">
              {message}
            </Alert>
          ))}
        </Stack>
      </section>
      <Effect pipelineId={pipelineId} effect={effect} of={recent.length} />
    </div>
  );
}

/** What the plan as it is typed says of the last events. Each number leads to its events. */
function Effect({ pipelineId, effect, of }: { pipelineId: string; effect: PlanEffect | undefined; of: number }) {
  return (
    <section className="panel" style={{ padding: 16 }} aria-label="Effect on recent events">
      <Title order={2} mb="xs">
        {of === 0 ? 'Effect on recent events' : `Effect on the last ${number(of)} events`}
      </Title>
      {of === 0 ? (
        <p className="dim">No event has arrived yet. Once one has, this says which events fit the plan.</p>
      ) : effect === undefined ? (
        <p className="dim">Fix the errors to see it.</p>
      ) : (
        <Table verticalSpacing={6} className="flush">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Event</Table.Th>
              <Table.Th ta="right">Events</Table.Th>
              <Table.Th>Result</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {effect.events.map(({ name, planned, count, violating, example }) => (
              <Table.Tr key={name}>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>
                  <b>{name}</b>
                  {example !== undefined && <div className="mono dim">{example.message}</div>}
                </Table.Td>
                <Table.Td ta="right">
                  <Link to="/events" search={{ pipeline: pipelineId, event: name } as never}>
                    {number(count)}
                  </Link>
                </Table.Td>
                <Table.Td>
                  {example !== undefined ? (
                    <Link to="/events" search={{ pipeline: pipelineId, event: name, selected: example.event_id } as never}>
                      <Tag tone="bad">{`${number(violating)} ${violating === 1 ? 'does' : 'do'} not fit`}</Tag>
                    </Link>
                  ) : planned ? (
                    <Tag tone="ok">{count === 1 ? 'fits' : 'all fit'}</Tag>
                  ) : (
                    <Tag>not in the plan</Tag>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </section>
  );
}
/** Faults at their lines, in the words of the service: its own compiler finds them. */
function check(text: string, on_violation: string): { events: unknown; faults: readonly TextFault[] } {
  const broken = syntaxFault(text);
  if (broken !== undefined) return { events: undefined, faults: [broken] };
  const events: unknown = JSON.parse(text);
  const found = finish(validateTrackingPlanInSteps({ events, on_violation }));
  return { events, faults: placeFaults(text, found.slice(0, MOST_FAULTS), 'events') };
}
const MOST_FAULTS = 20;
