/** How the connection of a source to its broker is doing, and the form that changes it. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { afterSave } from '../../after-save.ts';
import { api, call } from '../../api.ts';
import { Tag } from '../../components/tag.tsx';
import { ago, number } from '../../format.ts';
import { fieldErrors } from '../../forms.ts';
import { useMay } from '../../session/use-session.ts';
import { useUnsaved } from '../../use-unsaved.ts';
import { BROKERS, type BrokerKind, ConnectionFields, connectionOf } from './broker-connection.tsx';
import { SOURCES, type Source, sourceStatusQuery } from './sources.ts';

const TONES = { listening: 'ok', running: 'ok', connecting: 'warn', stopped: 'warn', failing: 'bad' } as const;

export function BrokerPanel({ source, kind }: { source: Source; kind: BrokerKind }) {
  const queries = useQueryClient();
  const may = useMay('editor');
  const path = { id: source.id };
  const status = useQuery(sourceStatusQuery(source.id));
  const form = useForm({ initialValues: { connection: { ...BROKERS[kind].defaults, ...source.connection }, signing_secret: '' } });
  useUnsaved(form.isDirty());
  const save = useMutation({
    mutationFn: ({ connection, signing_secret }: typeof form.values) =>
      call(
        api.PUT('/v1/admin/webhook-sources/{id}', {
          params: { path },
          body: { connection: connectionOf(kind, connection), ...(signing_secret === '' ? {} : { signing_secret }) },
        }),
      ),
    onSuccess: async ({ connection }, sent) => {
      const saved = { connection: { ...BROKERS[kind].defaults, ...connection }, signing_secret: '' };
      form.setInitialValues(saved);
      form.setValues((now) => afterSave(sent, now as typeof form.values, saved));
      await queries.invalidateQueries({ queryKey: SOURCES });
      notifications.show({ message: 'Saved. The source connects again within five seconds.' });
    },
    onError: (error) => form.setErrors(fieldErrors(error, 'signing_secret')),
  });
  return (
    <>
      {status.data !== undefined && (
        <Text size="sm" mt="xs">
          <Tag tone={TONES[status.data.state]}>{status.data.state}</Tag>{' '}
          {status.data.lag !== null && `${number(status.data.lag)} messages wait at the broker. `}
          {status.data.last_message_at !== null && `Last message ${ago(status.data.last_message_at)}. `}
          {status.data.last_error}
        </Text>
      )}
      <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
        <Stack gap="sm" mt="sm" maw={560}>
          <ConnectionFields kind={kind} form={form} stored />
          <Group>
            <Button
              type="submit"
              loading={save.isPending}
              disabled={!may || !form.isDirty()}
              title={may ? undefined : 'Needs the role editor'}
            >
              Save the connection
            </Button>
          </Group>
        </Stack>
      </form>
    </>
  );
}
