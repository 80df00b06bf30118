import { Alert, Button, Paper, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { createApiClient } from '../../api-client.ts';
import { session } from '../../session/session.ts';
import classes from './sign-in.module.css';

/** Shown at whatever address was asked for: after signing in the user is where they wanted to be. */
export function SignInPage({ notice, email = '' }: { notice?: string; email?: string }) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string>();
  const [needsCode, setNeedsCode] = useState(false);
  const form = useForm({
    initialValues: { email, password: '', code: '' },
    validate: {
      email: (value) => (value.trim() === '' ? 'Enter your e-mail address.' : null),
      password: (value) => (value === '' ? 'Enter your password.' : null),
    },
  });
  // Public, so it is asked without a session.
  const methods = useQuery({
    queryKey: ['sign-in-methods'],
    queryFn: async () => (await createApiClient().GET('/v1/admin/auth/methods')).data ?? { local: true, oidc: false },
    staleTime: Infinity,
    retry: false,
  });
  const { local = true, oidc = false } = methods.data ?? {};
  async function submit({ email: address, password, code }: typeof form.values) {
    setBusy(true);
    setFailure(undefined);
    const answer = await session.signIn(address.trim(), password, needsCode ? code.trim() : undefined).finally(() => setBusy(false));
    if (answer.ok) return;
    if (answer.error.code === 'TOTP_REQUIRED' && !needsCode) setNeedsCode(true);
    else setFailure(answer.error.message);
  }
  return (
    <main className={classes.page}>
      <Paper className="panel" p="xl" w={360}>
        <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
          <Stack gap="sm">
            <Title order={1}>Sign in to Firsthand</Title>
            {notice !== undefined && <Text c="var(--dim)">{notice}</Text>}
            {failure !== undefined && (
              <Alert color="red" role="alert">
                {failure}
              </Alert>
            )}
            {oidc && (
              <Button component="a" href="/v1/admin/auth/oidc/start" size="sm" variant={local ? 'default' : 'filled'}>
                Sign in with your organisation’s account
              </Button>
            )}
            {local && (
              <>
                <TextInput label="E-mail address" type="email" autoComplete="username" autoFocus {...form.getInputProps('email')} />
                <PasswordInput label="Password" autoComplete="current-password" {...form.getInputProps('password')} />
                {needsCode && (
                  <TextInput
                    label="Code from your authenticator app"
                    description="Or one of your recovery codes."
                    autoComplete="one-time-code"
                    autoFocus
                    {...form.getInputProps('code')}
                  />
                )}
                <Button type="submit" size="sm" loading={busy}>
                  Sign in
                </Button>
              </>
            )}
            <Text size="xs" c="var(--dim)">
              The first owner’s address and password are printed once, when the service starts for the first time.{' '}
              <code>firsthand user reset-password</code> sets a new one.
            </Text>
          </Stack>
        </form>
      </Paper>
    </main>
  );
}
