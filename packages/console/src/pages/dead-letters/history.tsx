/** Sends retained events of a time to one integration once more: first a dry run that counts, then the replay. */
import { Button, Select, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { integrationsQuery, pipelinesQuery } from '../../queries.ts';
import { useMay } from '../../session/use-session.ts';
import { historyJob, type ReplayJob } from './jobs.ts';

const localTime = (ms: number): string => {
  const time = new Date(ms);
  return new Date(ms - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

export function HistoryReplay({ onReplay }: { onReplay: (job: ReplayJob) => void }) {
  const may = useMay('editor');
  const pipelines = useQuery(pipelinesQuery());
  const only = pipelines.data?.pipelines.length === 1 ? (pipelines.data.pipelines[0]?.id ?? null) : null;
  const form = useForm({
    initialValues: {
      pipeline: null as string | null,
      integration: null as string | null,
      from: localTime(Date.now() - 3_600_000),
      to: localTime(Date.now() + 60_000),
      names: [] as string[],
    },
    validate: {
      pipeline: (value) => (value === null && only === null ? 'Choose a pipeline.' : null),
      integration: (value) => (value === null ? 'Choose where the events go.' : null),
      from: (value) => (Number.isNaN(Date.parse(value)) ? 'Enter a time.' : null),
      to: (value, { from }) =>
        Number.isNaN(Date.parse(value)) ? 'Enter a time.' : Date.parse(value) < Date.parse(from) ? 'Must not be before the start.' : null,
    },
  });
  const pipeline = form.values.pipeline ?? only;
  const integrations = useQuery({ ...integrationsQuery(pipeline ?? ''), enabled: pipeline !== null, refetchInterval: false });
  return (
    <form
      className="panel"
      style={{ padding: 16, maxWidth: 560 }}
      onSubmit={(event) => {
        event.preventDefault();
        const { integration, from, to, names } = form.values;
        if (form.validate().hasErrors || pipeline === null || integration === null) return;
        const name = integrations.data?.integrations.find(({ id }) => id === integration)?.name ?? integration;
        onReplay(
          historyJob(`history to ${name}`, {
            pipeline_id: pipeline,
            integration_id: integration,
            from: Date.parse(from),
            to: Date.parse(to),
            event_names: names,
          }),
        );
      }}
    >
      <Stack gap="sm">
        <Text size="sm" c="var(--dim)">
          For an integration that was added later, or whose mapping was wrong: events that are still retained are delivered to it once more,
          through its pinned revision. Vendors that do not deduplicate count them twice.
        </Text>
        <Select
          label="Pipeline"
          data={pipelines.data?.pipelines.map(({ id, name }) => ({ value: id, label: name })) ?? []}
          {...form.getInputProps('pipeline')}
          value={pipeline}
        />
        <Select
          label="Integration"
          disabled={pipeline === null}
          data={integrations.data?.integrations.map(({ id, name }) => ({ value: id, label: name })) ?? []}
          {...form.getInputProps('integration')}
        />
        <TextInput type="datetime-local" label="From" {...form.getInputProps('from')} />
        <TextInput type="datetime-local" label="To" {...form.getInputProps('to')} />
        <TagsInput
          label="Only these events"
          description="Track names, or @page, @identify, @group. Empty: all of them."
          {...form.getInputProps('names')}
        />
        <Button type="submit" size="sm" disabled={!may} title={may ? undefined : 'Needs the role editor'}>
          Count them …
        </Button>
      </Stack>
    </form>
  );
}
