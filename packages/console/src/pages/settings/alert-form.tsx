/** Makes an alert or changes one: what it watches, where, from which number on, and whom it tells. */

import type { AlertFields, AlertKind } from '@firsthand/core/config/alert.ts';
import { Button, CloseButton, Group, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, call } from '../../api.ts';
import { Conflict } from '../../components/conflict.tsx';
import { IntegrationSelect, PipelineSelect } from '../../components/server-select.tsx';
import { formErrors } from '../../forms.ts';
import { type SavedPart, savePart } from '../../save-part.ts';
import { useUnsaved } from '../../use-unsaved.ts';

const KINDS: Record<AlertKind, string> = {
  failing: 'delivery attempts that fail',
  silent: 'too few events received',
  backlog: 'events that wait for delivery',
  dead_letters: 'dead letters',
  plan_violations: 'events that do not fit the tracking plan',
  rejected: 'rejected events',
};
/** These can be limited to one integration. */
const OF_DELIVERIES: readonly AlertKind[] = ['failing', 'backlog', 'dead_letters'];
/** The API takes so many. */
const MOST_CHANNELS = 5;
type ChannelType = 'webhook' | 'slack' | 'email';
const CHANNELS: { value: ChannelType; label: string }[] = [
  { value: 'slack', label: 'Slack' },
  { value: 'webhook', label: 'webhook' },
  { value: 'email', label: 'e-mail' },
];
interface Channel {
  type: ChannelType;
  address: string;
}
export interface EditableAlert {
  id: string;
  updated_at: string;
  name: string;
  kind: AlertKind;
  pipeline_id: string | null;
  integration_id: string | null;
  threshold: number;
  window_minutes: number;
  channels: readonly { type: ChannelType; url?: string; to?: string }[];
}
const NEW = { name: '', kind: 'failing' as AlertKind, pipeline_id: null, integration_id: null, threshold: 10, window_minutes: 15 };

/** The form's fields. Each writable field of an alert is here, except `enabled`, which the list of alerts switches. */
function valuesOf({
  name,
  kind,
  pipeline_id,
  integration_id,
  threshold,
  window_minutes,
  channels,
}: Omit<EditableAlert, 'id' | 'updated_at'>) {
  const shown = channels.map(({ type, url, to }): Channel => ({ type, address: url ?? to ?? '' }));
  const values = { name, kind, pipeline_id, integration_id, threshold, window_minutes, channels: shown };
  return values satisfies Record<Exclude<keyof AlertFields, 'enabled'>, unknown>;
}
const channelOf = ({ type, address }: Channel) => ({ type, ...(type === 'email' ? { to: address.trim() } : { url: address.trim() }) });
const bodyOf = ({ channels, integration_id, ...values }: ReturnType<typeof valuesOf>) => ({
  ...values,
  integration_id: OF_DELIVERIES.includes(values.kind) ? integration_id : null,
  channels: channels.map(channelOf),
});
/** As the API names what the form shows. */
function shownFields({ kind, channels }: ReturnType<typeof valuesOf>): string[] {
  const ofKind = [...(OF_DELIVERIES.includes(kind) ? ['integration_id'] : []), ...(kind === 'backlog' ? [] : ['window_minutes'])];
  const ofChannels = channels.flatMap((_, at) => ['.type', '.url', '.to', ''].map((part) => `channels.${at}${part}`));
  return ['name', 'kind', 'pipeline_id', 'threshold', ...ofKind, ...ofChannels];
}
/** The form has one address where the API has `url` or `to`. */
const fieldOf = (field: string): string => field.replace(/^(channels\.\d+)(\.url|\.to)?$/, '$1.address');

export function AlertForm({ alert, onDone }: { alert?: EditableAlert; onDone: () => void }) {
  const queries = useQueryClient();
  const form = useForm({
    initialValues: valuesOf(alert ?? { ...NEW, channels: [{ type: 'slack' }] }),
    validate: {
      name: (name) => (name.trim() === '' ? 'Give it a name.' : null),
      channels: { address: (address) => (address.trim() === '' ? 'Say whom to tell.' : null) },
    },
  });
  const { kind, channels, pipeline_id } = form.values;
  const ofDeliveries = OF_DELIVERIES.includes(kind);
  const [theirs, setTheirs] = useState<EditableAlert>();
  const save = useMutation({
    mutationFn: async ({
      values,
      since,
    }: {
      values: typeof form.values;
      since: EditableAlert | undefined;
    }): Promise<SavedPart<EditableAlert>> => {
      const body = bodyOf(values);
      if (since === undefined) return { kind: 'saved', stored: await call(api.POST('/v1/admin/alerts', { body })) };
      const path = { id: since.id };
      return await savePart<EditableAlert>({
        base: since,
        part: (version) => bodyOf(valuesOf(version)),
        put: (updatedAt) => call(api.PUT('/v1/admin/alerts/{id}', { params: { path, header: { 'if-match': updatedAt } }, body })),
        read: () => call(api.GET('/v1/admin/alerts/{id}', { params: { path } })),
      });
    },
    onSuccess: async (answer) => {
      if (answer.kind === 'conflict') return setTheirs(answer.theirs);
      onDone();
      await queries.invalidateQueries({ queryKey: ['alerts'] });
    },
    onError: (error, { values }) => {
      const faults = Object.entries(formErrors(error, 'name', shownFields(values)));
      form.setErrors(Object.fromEntries(faults.map(([field, message]) => [fieldOf(field), message])));
    },
  });
  useUnsaved(form.isDirty() && !save.isPending && !save.isSuccess);
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate({ values, since: alert }))}>
      <Stack gap="sm">
        {theirs !== undefined && (
          <Conflict
            what="this alert"
            theirs={bodyOf(valuesOf(theirs))}
            mine={bodyOf(form.values)}
            busy={save.isPending}
            onKeepMine={() => save.mutate({ values: form.values, since: theirs })}
            onTakeTheirs={() => {
              onDone();
              void queries.invalidateQueries({ queryKey: ['alerts'] });
            }}
          />
        )}
        <TextInput label="Name" placeholder="Orders do not reach Meta" data-autofocus {...form.getInputProps('name')} />
        <Select
          label="Watch"
          allowDeselect={false}
          data={Object.entries(KINDS).map(([value, label]) => ({ value, label }))}
          {...form.getInputProps('kind')}
        />
        <Group grow align="flex-start">
          <PipelineSelect
            label="Pipeline"
            placeholder="All pipelines"
            clearable
            {...form.getInputProps('pipeline_id')}
            onChange={(next) => form.setValues({ pipeline_id: next, integration_id: null })}
          />
          {ofDeliveries && (
            <IntegrationSelect
              label="Integration"
              placeholder="All integrations"
              clearable
              pipelineId={pipeline_id ?? undefined}
              {...form.getInputProps('integration_id')}
            />
          )}
        </Group>
        <Group grow align="flex-start">
          <NumberInput label={kind === 'silent' ? 'When fewer than' : 'When at least'} min={0} {...form.getInputProps('threshold')} />
          {kind !== 'backlog' && <NumberInput label="Within (minutes)" min={1} max={1_440} {...form.getInputProps('window_minutes')} />}
        </Group>
        <fieldset style={{ border: 0, margin: 0, padding: 0 }}>
          <Text component="legend" size="sm" fw={650} mb={4}>
            Notify
          </Text>
          <Stack gap={6}>
            {channels.map(({ type }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: channels have an order and no id
              <Group key={at} gap="xs" wrap="nowrap" align="flex-start">
                <Select
                  w={110}
                  aria-label={`Channel ${at + 1}`}
                  allowDeselect={false}
                  data={CHANNELS}
                  {...form.getInputProps(`channels.${at}.type`)}
                />
                <TextInput
                  style={{ flex: 1 }}
                  aria-label={`${type === 'email' ? 'E-mail address' : 'URL'} of channel ${at + 1}`}
                  placeholder={type === 'email' ? 'oncall@shop.example' : 'https://'}
                  {...form.getInputProps(`channels.${at}.address`)}
                />
                <CloseButton
                  mt={3}
                  aria-label={`Remove channel ${at + 1}`}
                  disabled={channels.length === 1}
                  onClick={() => form.removeListItem('channels', at)}
                />
              </Group>
            ))}
          </Stack>
          <Button
            mt={6}
            variant="default"
            disabled={channels.length >= MOST_CHANNELS}
            title={channels.length >= MOST_CHANNELS ? `At most ${MOST_CHANNELS}` : undefined}
            onClick={() => form.insertListItem('channels', { type: 'email', address: '' } satisfies Channel)}
          >
            Add a channel
          </Button>
        </fieldset>
        <Button type="submit" size="sm" loading={save.isPending} disabled={theirs !== undefined}>
          {alert === undefined ? 'Create' : 'Save'}
        </Button>
      </Stack>
    </form>
  );
}
