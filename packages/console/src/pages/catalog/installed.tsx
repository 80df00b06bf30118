/** After an installation: connect the account where the vendor has OAuth, and the way on. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { ConnectAccount } from '../../components/connect-account.tsx';
import { Tag } from '../../components/tag.tsx';
import classes from './catalog.module.css';
import type { InstallableVendor, InstalledIntegration } from './installation.ts';

export function Installed({
  vendor,
  templateId,
  integrations,
  onDone,
}: {
  vendor: Pick<InstallableVendor, 'name' | 'connect' | 'see_it'>;
  templateId: string;
  integrations: readonly InstalledIntegration[];
  onDone: () => void;
}) {
  const navigate = useNavigate();
  const [first] = integrations;
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
          <ConnectAccount
            templateId={templateId}
            about={`Authorise your own OAuth client at ${vendor.name}; the token is sealed into a new revision. Once a pipeline uses it, “Try it” at the pipeline’s integration sends a test event.`}
          />
        </div>
      )}
      {vendor.see_it !== null && first !== undefined && <Text size="sm">Where it shows: {vendor.see_it}</Text>}
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
