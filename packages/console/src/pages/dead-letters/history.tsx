/** Sends retained events of a time to one integration once more: first a dry run that counts, then the replay. The address holds the form. */
import { Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { EventNamesInput } from '../../components/event-names-input.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { IntegrationSelect, PipelineSelect } from '../../components/server-select.tsx';
import { useIntegrationNames } from '../../names.ts';
import { pipelinesQuery } from '../../queries.ts';
import { historyJob, type ReplayJob } from './jobs.ts';
import { isoTime, localTime } from './local-time.ts';
import { type DeadLettersSearch, readNames, writeNames } from './search.ts';

const timeOf = (text: string | undefined, otherwise: number): string =>
  localTime(text === undefined || Number.isNaN(Date.parse(text)) ? otherwise : Date.parse(text));

export interface HistoryReplayProps {
  search: DeadLettersSearch;
  setSearch: (next: Partial<Record<keyof DeadLettersSearch, string | undefined>>) => void;
  onReplay: (job: ReplayJob) => void;
}

export function HistoryReplay({ search, setSearch, onReplay }: HistoryReplayProps) {
  const pipelines = useQuery(pipelinesQuery());
  const only = pipelines.data?.total === 1 ? (pipelines.data.pipelines[0]?.id ?? null) : null;
  const timeIn = (field: 'from' | 'to', text: string): number => Date.parse(isoTime(text, search[field]));
  const form = useForm({
    initialValues: {
      pipeline: search.pipeline ?? (null as string | null),
      integration: search.integration ?? (null as string | null),
      from: timeOf(search.from, Date.now() - 3_600_000),
      to: timeOf(search.to, Date.now() + 60_000),
      names: search.events === undefined ? [] : readNames(search.events),
    },
    validate: {
      pipeline: (value) => (value === null && only === null ? 'Choose a pipeline.' : null),
      integration: (value) => (value === null ? 'Choose where the events go.' : null),
      from: (value) => (Number.isNaN(Date.parse(value)) ? 'Enter a time.' : null),
      to: (value, { from }) =>
        Number.isNaN(Date.parse(value))
          ? 'Enter a time.'
          : timeIn('to', value) < timeIn('from', from)
            ? 'Must not be before the start.'
            : null,
    },
    onValuesChange: ({ pipeline, integration, from, to, names }) =>
      setSearch({
        pipeline: pipeline ?? undefined,
        integration: integration ?? undefined,
        from: isoTime(from, search.from),
        to: isoTime(to, search.to),
        events: names.length === 0 ? undefined : writeNames(names),
      }),
  });
  const pipeline = form.values.pipeline ?? only;
  const { integration } = form.values;
  const integrationNames = useIntegrationNames(integration === null ? [] : [integration]);
  return (
    <form
      className="panel"
      style={{ padding: 16, maxWidth: 560 }}
      onSubmit={form.onSubmit(({ from, to, names }) => {
        if (pipeline === null || integration === null) return;
        onReplay(
          historyJob(`history to ${integrationNames.get(integration) ?? integration}`, {
            pipeline_id: pipeline,
            integration_id: integration,
            from: timeIn('from', from),
            to: timeIn('to', to),
            event_names: names,
          }),
        );
      })}
    >
      <Stack gap="sm">
        <Text size="sm" c="var(--dim)">
          For an integration that was added later, or whose mapping was wrong: events that are still retained are delivered to it once more,
          through its pinned revision. Vendors that do not deduplicate count them twice.
        </Text>
        <PipelineSelect
          label="Pipeline"
          {...form.getInputProps('pipeline')}
          value={pipeline}
          onChange={(next) => form.setValues({ pipeline: next, integration: null })}
        />
        <IntegrationSelect
          label="Integration"
          disabled={pipeline === null}
          pipelineId={pipeline ?? undefined}
          {...form.getInputProps('integration')}
        />
        <TextInput type="datetime-local" label="From" {...form.getInputProps('from')} />
        <TextInput type="datetime-local" label="To" {...form.getInputProps('to')} />
        <EventNamesInput pipelineId={pipeline ?? undefined} {...form.getInputProps('names')} />
        <RoleButton needs="editor" type="submit" size="sm">
          Count them …
        </RoleButton>
      </Stack>
    </form>
  );
}
