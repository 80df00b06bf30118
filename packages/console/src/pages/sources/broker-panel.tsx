/** How the connection of a source to its broker is doing, and the form that changes it. */
import { Group, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { afterSave } from '../../after-save.ts';
import { Conflict } from '../../components/conflict.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { Tag } from '../../components/tag.tsx';
import { ago, number } from '../../format.ts';
import { formErrors } from '../../forms.ts';
import { useUnsaved } from '../../use-unsaved.ts';
import { BROKERS, type BrokerKind, ConnectionFields, connectionFields, connectionOf } from './broker-connection.tsx';
import { SOURCES, type Source, saveSource, sourceStatusQuery } from './sources.ts';

const connectionIn = ({ connection }: Source) => connection;
const TONES = { listening: 'ok', running: 'ok', connecting: 'warn', stopped: 'warn', failing: 'bad' } as const;

export function BrokerPanel({ source, kind }: { source: Source; kind: BrokerKind }) {
  const queries = useQueryClient();
  const valuesOf = ({ connection }: Source) => ({ connection: { ...BROKERS[kind].defaults, ...connection }, signing_secret: '' });
  /** The version that the form started from. */
  const [base, setBase] = useState(source);
  const [theirs, setTheirs] = useState<Source>();
  const status = useQuery(sourceStatusQuery(source.id));
  const form = useForm({ initialValues: valuesOf(source) });
  useUnsaved(form.isDirty());
  const save = useMutation({
    mutationFn: ({ values: { connection, signing_secret }, since }: { values: typeof form.values; since: Source }) =>
      saveSource(since, connectionIn, {
        connection: connectionOf(kind, connection),
        ...(signing_secret === '' ? {} : { signing_secret }),
      }),
    onSuccess: async (answer, { values: sent }) => {
      if (answer.kind === 'conflict') return setTheirs(answer.theirs);
      setTheirs(undefined);
      setBase(answer.stored);
      const saved = valuesOf(answer.stored);
      form.setInitialValues(saved);
      form.setValues((now) => afterSave(sent, now as typeof form.values, saved));
      await queries.invalidateQueries({ queryKey: SOURCES });
      notifications.show({ message: 'Saved. The source connects again within five seconds.' });
    },
    onError: (error) => {
      const fields = connectionFields(kind, form.values.connection);
      form.setErrors(formErrors(error, fields[0] ?? 'signing_secret', fields));
    },
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
      {theirs !== undefined && (
        <Conflict
          what={`the connection of ${source.name}`}
          theirs={theirs.connection}
          mine={connectionOf(kind, form.values.connection)}
          busy={save.isPending}
          onKeepMine={() => save.mutate({ values: form.values, since: theirs })}
          onTakeTheirs={() => {
            setTheirs(undefined);
            setBase(theirs);
            form.setInitialValues(valuesOf(theirs));
            form.setValues(valuesOf(theirs));
          }}
        />
      )}
      <form onSubmit={form.onSubmit((values) => save.mutate({ values, since: base }))}>
        <Stack gap="sm" mt="sm" maw={560}>
          <ConnectionFields kind={kind} form={form} stored />
          <Group>
            <RoleButton needs="editor" type="submit" loading={save.isPending} disabled={!form.isDirty() || theirs !== undefined}>
              Save the connection
            </RoleButton>
          </Group>
        </Stack>
      </form>
    </>
  );
}
