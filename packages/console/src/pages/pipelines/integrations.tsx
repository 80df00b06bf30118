/** The integrations of a pipeline, and the chosen one beside the list. */
import { Group, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { LinkButton } from '../../components/link-button.tsx';
import { RoleButton } from '../../components/role-button.tsx';
import { Empty, Failed, Loading } from '../../components/states.tsx';
import { Tag, toneOf } from '../../components/tag.tsx';
import { UseTemplate } from '../../components/use-template.tsx';
import { integrationsQuery } from '../../queries.ts';
import { IntegrationDetails } from './integration-details.tsx';
import classes from './integrations.module.css';

export function Integrations({ pipelineId }: { pipelineId: string }) {
  const { integration: chosen } = useSearch({ strict: false }) as { integration?: string };
  const integrations = useQuery(integrationsQuery(pipelineId));
  if (integrations.isPending) return <Loading what="integrations" />;
  if (integrations.isLoadingError) return <Failed error={integrations.error} retry={() => void integrations.refetch()} />;
  const list = integrations.data.integrations;
  if (list.length === 0)
    return (
      <Empty
        title="No integrations yet"
        action={
          <Group gap="sm">
            <LinkButton variant="filled" to="/catalog" search={{ pipeline: pipelineId }}>
              Open the catalog
            </LinkButton>
            <UseInstalled pipelineId={pipelineId} />
          </Group>
        }
      >
        Events of this pipeline are processed and kept, and go nowhere.
      </Empty>
    );
  const open = list.find(({ id }) => id === chosen) ?? list[0];
  return (
    <div className={classes.columns}>
      <nav className="panel" aria-label="Integrations" style={{ padding: 8, alignSelf: 'start' }}>
        {list.map(({ id, name, enabled, health }) => (
          <Link
            key={id}
            to="/pipelines/$pipelineId"
            params={{ pipelineId }}
            search={{ tab: 'integrations', integration: id }}
            className={classes.item}
            data-open={id === open?.id}
          >
            <span>{name}</span>
            <Tag tone={enabled ? toneOf(health.status) : 'neutral'}>{enabled ? health.status : 'disabled'}</Tag>
          </Link>
        ))}
        <div style={{ padding: '8px 2px 2px' }}>
          <UseInstalled pipelineId={pipelineId} />
        </div>
      </nav>
      {open !== undefined && <IntegrationDetails key={open.id} integration={open} />}
    </div>
  );
}
/** What is installed already, for instance an account that was connected after its installation. */
function UseInstalled({ pipelineId }: { pipelineId: string }) {
  const [open, { open: show, close }] = useDisclosure();
  return (
    <>
      <RoleButton needs="editor" variant="default" onClick={show}>
        Use a template …
      </RoleButton>
      <Modal opened={open} onClose={close} title="Use a template">
        <UseTemplate pipelineId={pipelineId} onDone={close} />
      </Modal>
    </>
  );
}
