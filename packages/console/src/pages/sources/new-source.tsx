import { Button, Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, call } from '../../api.ts';
import { Json } from '../../components/json.tsx';
import { PipelineSelect } from '../../components/server-select.tsx';
import { formErrors } from '../../forms.ts';
import { useUnsaved } from '../../use-unsaved.ts';
import { BROKERS, type Connection, ConnectionFields, connectionFields, connectionOf, isBroker } from './broker-connection.tsx';
import { SOURCES } from './sources.ts';

const WEBHOOKS = [
  { value: 'payment_processor', label: 'Payment processor (Stripe)' },
  { value: 'ecommerce_platform', label: 'E-commerce platform (Shopify)' },
  { value: 'crm', label: 'CRM (HubSpot)' },
  { value: 'form_service', label: 'Form service (Typeform)' },
  { value: 'messaging_service', label: 'Messaging service (Intercom)' },
  { value: 'custom', label: 'Anything else, with your own mapping' },
];
const KINDS = [
  { group: 'Webhooks: the service calls', items: WEBHOOKS },
  { group: 'Brokers: Firsthand reads', items: Object.entries(BROKERS).map(([value, { label }]) => ({ value, label })) },
];

/** The fields that are shown. */
const fieldNames = (from: string, connection: Connection): string[] => [
  ...['name', 'pipeline_id'],
  ...(isBroker(from) ? connectionFields(from, connection) : ['signing_secret']),
];

/** `pipelineId`: proposed. */
export function NewSource({ pipelineId }: { pipelineId: string | null }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [made, setMade] = useState<{ url: string; signing_secret: string }>();
  const form = useForm({
    initialValues: {
      name: '',
      pipeline_id: pipelineId,
      from: 'payment_processor',
      signing_secret: '',
      connection: {} as Connection,
    },
    validate: {
      name: (name) => (name.trim() === '' ? 'Give the source a name.' : null),
      pipeline_id: (id) => (id === null ? 'Choose a pipeline.' : null),
    },
  });
  const { from } = form.values;
  const create = useMutation({
    mutationFn: ({ signing_secret, connection, from, ...values }: typeof form.values) => {
      const kind = isBroker(from)
        ? { source_type: 'custom', kind: from, connection: connectionOf(from, connection) }
        : { source_type: from };
      const secret = signing_secret === '' ? {} : { signing_secret };
      return call(api.POST('/v1/admin/webhook-sources', { body: { ...values, ...kind, ...secret } as never }));
    },
    onSuccess: async (source) => {
      await queries.invalidateQueries({ queryKey: SOURCES });
      if (isBroker(from)) await navigate({ to: '/sources', search: { selected: source.id } });
      else setMade(source);
    },
    onError: (error) => form.setErrors(formErrors(error, 'name', fieldNames(from, form.values.connection))),
  });
  useUnsaved(form.isDirty() && !create.isPending && !create.isSuccess);
  if (made !== undefined)
    return (
      <Stack gap="sm">
        <p>Enter this address at the provider:</p>
        <Json value={made.url} label="Webhook address" />
        <p>The signing secret, shown only now:</p>
        <Json value={made.signing_secret} label="Signing secret" />
      </Stack>
    );
  return (
    <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
      <Stack gap="sm">
        <TextInput label="Name" data-autofocus {...form.getInputProps('name')} />
        <Select
          label="Kind"
          allowDeselect={false}
          data={KINDS}
          {...form.getInputProps('from')}
          onChange={(next) => {
            if (next === null) return;
            form.setValues({ from: next, signing_secret: '', connection: isBroker(next) ? BROKERS[next].defaults : {} });
            form.clearErrors();
          }}
        />
        <PipelineSelect
          label="Pipeline"
          description="Its events go into this pipeline."
          allowDeselect={false}
          {...form.getInputProps('pipeline_id')}
        />
        {isBroker(from) ? (
          <ConnectionFields kind={from} form={form} stored={false} />
        ) : (
          <TextInput
            label="Signing secret"
            description="Paste the one that the provider shows, or leave it empty for a new one."
            autoComplete="off"
            {...form.getInputProps('signing_secret')}
          />
        )}
        <Button type="submit" size="sm" loading={create.isPending}>
          Create
        </Button>
      </Stack>
    </form>
  );
}
