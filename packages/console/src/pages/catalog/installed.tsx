/** After an installation: connect the account where the vendor has OAuth, make a real test call, go on. */
import { Button, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, call } from '../../api.ts';
import { Json } from '../../components/json.tsx';
import { Tag } from '../../components/tag.tsx';
import { milliseconds } from '../../format.ts';
import { failureText } from '../../forms.ts';
import { SAMPLE_BODY } from '../../sample-event.ts';
import classes from './catalog.module.css';
import type { InstallableVendor } from './install.tsx';
import type { InstalledIntegration } from './installation.ts';

export function Installed({
  vendor,
  templateId,
  integrations,
  onDone,
}: {
  vendor: Pick<InstallableVendor, 'name' | 'connect' | 'see_it' | 'test_mode'>;
  templateId: string;
  integrations: readonly InstalledIntegration[];
  onDone: () => void;
}) {
  const navigate = useNavigate();
  const [first] = integrations;
  const connect = useMutation({
    mutationFn: () => call(api.POST('/v1/admin/integration-templates/{id}/connect', { params: { path: { id: templateId } } })),
    onSuccess: ({ authorize_url }) => location.assign(authorize_url),
  });
  return (
    <Stack gap="sm">
      <Text size="sm" role="status">
        <Tag tone="ok">installed</Tag>{' '}
        {first === undefined
          ? vendor.connect === null
            ? `${vendor.name} is a template now; open its mapping to use it in a pipeline.`
            : `${vendor.name} is a template now. Connect the account; then the mapping opens, where “Use in a pipeline” assigns it.`
          : `${vendor.name} receives events from now on, not those that came before.`}
      </Text>
      {vendor.connect !== null && (
        <div className={classes.done}>
          <Text size="sm">Authorise your own OAuth client at {vendor.name}; the token is sealed into a new revision.</Text>
          <Button mt="xs" onClick={() => connect.mutate()} loading={connect.isPending}>
            Connect the account
          </Button>
          {connect.isError && <p role="alert">{failureText(connect.error)}</p>}
        </div>
      )}
      {integrations.map((integration) => (
        <TestCall key={integration.id} integration={integration} testMode={vendor.test_mode} />
      ))}
      {vendor.see_it !== null && first !== undefined && <Text size="sm">See it. {vendor.see_it}</Text>}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={() => void navigate({ to: '/templates/$templateId', params: { templateId }, search: {} })}>
          Open the mapping
        </Button>
        <Button
          data-autofocus
          onClick={() => {
            onDone();
            if (first !== undefined)
              void navigate({
                to: '/pipelines/$pipelineId',
                params: { pipelineId: first.pipeline_id },
                search: { tab: 'integrations', integration: first.id },
              });
          }}
        >
          Done
        </Button>
      </Group>
    </Stack>
  );
}

/** One event really goes to the vendor, so that wrong credentials are known now. */
function TestCall({ integration, testMode }: { integration: InstalledIntegration; testMode: InstallableVendor['test_mode'] }) {
  const [isTest, setIsTest] = useState(testMode !== null && testMode.value !== undefined);
  const [code, setCode] = useState('');
  const needsCode = testMode !== null && testMode.value === undefined;
  const test = useMutation({
    mutationFn: () => {
      const { userAgent: user_agent, ...context } = SAMPLE_BODY.context;
      return call(
        api.POST('/v1/admin/pipelines/{id}/integrations/{integration_id}/test', {
          params: { path: { id: integration.pipeline_id, integration_id: integration.id } },
          body: {
            event: {
              type: 'track',
              event: SAMPLE_BODY.event,
              user_id: SAMPLE_BODY.userId,
              anonymous_id: SAMPLE_BODY.anonymousId,
              properties: SAMPLE_BODY.properties,
              traits: SAMPLE_BODY.traits,
              context: { ...context, user_agent },
            } as never,
            ...(isTest ? { test_mode: true, ...(needsCode ? { test_code: code } : {}) } : {}),
          },
        }),
      );
    },
    // A new integration is loaded within a second or two.
    retry: 3,
    retryDelay: 1_000,
  });
  const status = test.data?.status ?? null;
  return (
    <div className={classes.done}>
      <Text size="sm">Check the credentials with one real request: a sample order goes to {integration.name}, without consent gate.</Text>
      {testMode !== null && (
        <Checkbox
          mt="xs"
          label="In the vendor’s test mode"
          description={testMode.effect}
          checked={isTest}
          onChange={(change) => setIsTest(change.currentTarget.checked)}
        />
      )}
      {isTest && needsCode && (
        <TextInput mt="xs" label="Test code" value={code} onChange={(change) => setCode(change.currentTarget.value.trim())} />
      )}
      <Group mt="xs" gap="xs">
        <Button variant="default" disabled={isTest && needsCode && code === ''} onClick={() => test.mutate()} loading={test.isPending}>
          Send a test event
        </Button>
        {test.data !== undefined && (
          <span role="status">
            <Tag tone={status !== null && status < 400 ? 'ok' : 'bad'}>{status ?? 'no answer'}</Tag> {milliseconds(test.data.duration_ms)}
          </span>
        )}
      </Group>
      {test.data !== undefined && test.data.response_excerpt !== '' && (
        <div style={{ marginTop: 8 }}>
          <Json value={test.data.response_excerpt} label="Answer of the vendor" maxHeight={140} />
        </div>
      )}
      {test.isError && <p role="alert">{failureText(test.error)}</p>}
    </div>
  );
}
