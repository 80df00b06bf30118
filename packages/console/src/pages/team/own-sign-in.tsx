/** The signed-in user's own password and two-step sign-in. */
import { Alert, Button, Group, Modal, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { api, call } from '../../api.ts';
import { Json } from '../../components/json.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { formErrors } from '../../forms.ts';

const QrCode = lazy(async () => ({ default: (await import('./qr-code.tsx')).QrCode }));

export function OwnSignIn() {
  return (
    <Stack gap="md" maw={560}>
      <TwoStep />
      <Password />
    </Stack>
  );
}

function TwoStep() {
  const [enrolling, { open, close }] = useDisclosure();
  const [ending, { open: askEnd, close: endAsking }] = useDisclosure();
  const state = useQuery({ queryKey: ['own-totp'], queryFn: () => call(api.GET('/v1/admin/users/me/totp', {})) });
  return (
    <section className="panel" style={{ padding: 16 }} aria-label="Two-step sign-in">
      <Group gap="xs" mb="xs">
        <Title order={2}>Two-step sign-in</Title>
        {state.data && <Tag tone={state.data.enabled ? 'ok' : 'neutral'}>{state.data.enabled ? 'on' : 'off'}</Tag>}
      </Group>
      {state.isPending ? (
        <Loading what="your sign-in" />
      ) : state.isError ? (
        <Failed error={state.error} retry={() => void state.refetch()} />
      ) : (
        <>
          <Text size="sm" c="var(--dim)" mb="sm">
            {state.data.enabled
              ? `Signing in needs a code of your authenticator app. ${state.data.recovery_codes_left} recovery codes are left.`
              : 'With an authenticator app, your password alone is not enough to sign in.'}
          </Text>
          <Group gap="xs">
            <Button onClick={open} variant={state.data.enabled ? 'default' : 'filled'}>
              {state.data.enabled ? 'Set up again' : 'Set up'}
            </Button>
            {state.data.enabled && (
              <Button variant="default" color="red" onClick={askEnd}>
                Turn off
              </Button>
            )}
          </Group>
        </>
      )}
      <Modal opened={enrolling} onClose={close} title="Set up two-step sign-in">
        <Enrol onDone={close} />
      </Modal>
      <Modal opened={ending} onClose={endAsking} title="Turn off two-step sign-in?">
        <TurnOff onDone={endAsking} />
      </Modal>
    </section>
  );
}

function Enrol({ onDone }: { onDone: () => void }) {
  const queries = useQueryClient();
  const proposal = useQuery({
    queryKey: ['totp-proposal'],
    queryFn: () => call(api.POST('/v1/admin/users/me/totp', {})),
    gcTime: 0,
    staleTime: Infinity,
  });
  const form = useForm({ initialValues: { code: '', current_password: '' } });
  const confirm = useMutation({
    mutationFn: (values: typeof form.values) =>
      call(
        api.POST('/v1/admin/users/me/totp/confirm', {
          body: { ...values, code: values.code.trim(), secret: proposal.data?.secret ?? '' },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['own-totp'] }),
    onError: (error) => form.setErrors(formErrors(error, 'current_password', Object.keys(form.values))),
  });
  if (confirm.data !== undefined)
    return (
      <Stack gap="sm">
        <Alert color="yellow">
          Keep these recovery codes where you find them without your phone. Each works once; they are not shown again.
        </Alert>
        <Json value={confirm.data.recovery_codes.join('\n')} label="Recovery codes" />
        <Group justify="flex-end">
          <Button onClick={onDone}>I have kept them</Button>
        </Group>
      </Stack>
    );
  if (proposal.isLoadingError) return <Failed error={proposal.error} retry={() => void proposal.refetch()} />;
  if (proposal.data === undefined) return <Loading what="a secret" />;
  return (
    <form onSubmit={form.onSubmit((values) => confirm.mutate(values))}>
      <Stack gap="sm">
        <Text size="sm">Scan this with your authenticator app, or enter the key by hand.</Text>
        <Suspense fallback={<Loading what="the QR code" />}>
          <QrCode text={proposal.data.otpauth_url} label="QR code for your authenticator app" />
        </Suspense>
        <Json value={proposal.data.secret} label="The key for your authenticator app" />
        <TextInput
          label="Code that the app shows"
          autoComplete="one-time-code"
          inputMode="numeric"
          data-autofocus
          {...form.getInputProps('code')}
        />
        <PasswordInput label="Your password" autoComplete="current-password" {...form.getInputProps('current_password')} />
        <Button type="submit" size="sm" loading={confirm.isPending}>
          Turn on
        </Button>
      </Stack>
    </form>
  );
}

function TurnOff({ onDone }: { onDone: () => void }) {
  const queries = useQueryClient();
  const form = useForm({ initialValues: { current_password: '' } });
  const disable = useMutation({
    mutationFn: (body: typeof form.values) => call(api.POST('/v1/admin/users/me/totp/disable', { body })),
    onSuccess: async () => {
      onDone();
      await queries.invalidateQueries({ queryKey: ['own-totp'] });
    },
    onError: (error) => form.setErrors(formErrors(error, 'current_password', Object.keys(form.values))),
  });
  return (
    <form onSubmit={form.onSubmit((values) => disable.mutate(values))}>
      <Stack gap="sm">
        <Text size="sm">Afterwards your password alone is enough to sign in.</Text>
        <PasswordInput label="Your password" data-autofocus autoComplete="current-password" {...form.getInputProps('current_password')} />
        <Button type="submit" size="sm" color="red" loading={disable.isPending}>
          Turn off
        </Button>
      </Stack>
    </form>
  );
}

function Password() {
  const form = useForm({ initialValues: { current_password: '', new_password: '' } });
  const change = useMutation({
    mutationFn: (body: typeof form.values) => call(api.PUT('/v1/admin/users/me/password', { body })),
    onSuccess: () => {
      form.reset();
      notifications.show({ message: 'Your password is changed. Other sessions have ended.' });
    },
    onError: (error) => form.setErrors(formErrors(error, 'current_password', Object.keys(form.values))),
  });
  return (
    <section className="panel" style={{ padding: 16 }} aria-label="Password">
      <Title order={2} mb="xs">
        Password
      </Title>
      <form onSubmit={form.onSubmit((values) => change.mutate(values))}>
        <Stack gap="sm">
          <PasswordInput label="Current password" autoComplete="current-password" {...form.getInputProps('current_password')} />
          <PasswordInput
            label="New password"
            description="12 characters or more."
            autoComplete="new-password"
            {...form.getInputProps('new_password')}
          />
          <Group>
            <Button type="submit" loading={change.isPending}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </section>
  );
}
