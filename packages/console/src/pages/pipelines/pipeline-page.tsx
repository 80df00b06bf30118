/** One pipeline: its picture, its integrations, and everything that can be set on it, by tab. */
import { Button, Modal, Tabs } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { Copy } from '../../components/json.tsx';
import { Page } from '../../components/page.tsx';
import { RangeSelect } from '../../components/range-select.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { integrationsQuery, pipelineQuery } from '../../queries.ts';
import { SendSnippets } from '../home/send-snippets.tsx';
import { Integrations } from './integrations.tsx';
import { Overview } from './overview.tsx';

const Settings = lazy(async () => ({ default: (await import('./settings.tsx')).PipelineSettings }));
const Collector = lazy(async () => ({ default: (await import('./collector.tsx')).CollectorTab }));

const Steps = lazy(async () => ({ default: (await import('./transformations.tsx')).Transformations }));
const Consent = lazy(async () => ({ default: (await import('./consent.tsx')).ConsentTab }));
const Plan = lazy(async () => ({ default: (await import('./tracking-plan.tsx')).TrackingPlanTab }));

const TABS = ['overview', 'integrations', 'transformations', 'tracking-plan', 'consent', 'collector', 'settings'] as const;
const LABELS: Record<(typeof TABS)[number], string> = {
  overview: 'Overview',
  integrations: 'Integrations',
  transformations: 'Transformations',
  'tracking-plan': 'Tracking plan',
  consent: 'Consent and privacy',
  collector: 'Collector',
  settings: 'Settings and keys',
};

export function PipelinePage() {
  const { pipelineId } = useParams({ strict: false }) as { pipelineId: string };
  const { tab = 'overview' } = useSearch({ strict: false }) as { tab?: string };
  const navigate = useNavigate();
  const [sending, { open: show, close }] = useDisclosure();
  const pipeline = useQuery(pipelineQuery(pipelineId));
  const integrations = useQuery(integrationsQuery(pipelineId));
  if (pipeline.isPending) return <Loading what="the pipeline" />;
  if (pipeline.isLoadingError) return <Failed error={pipeline.error} retry={() => void pipeline.refetch()} />;
  const count = integrations.data?.total;
  return (
    <Page
      title={pipeline.data.name}
      marks={
        <>
          <Tag tone={pipeline.data.enabled ? 'ok' : 'warn'}>{pipeline.data.enabled ? 'enabled' : 'disabled'}</Tag>
          <Tag>
            <span className="mono">{pipeline.data.pipeline_key.slice(0, 10)}…</span>
          </Tag>
          <Copy text={pipeline.data.pipeline_key} label="Copy the pipeline key" inline />
          {pipeline.data.labels.map((label) => (
            <Tag key={label}>{label}</Tag>
          ))}
        </>
      }
      actions={
        <>
          {tab === 'overview' && <RangeSelect />}
          <Button variant="default" onClick={show}>
            Install snippet
          </Button>
          <Button component={Link} to="/catalog">
            Add integration
          </Button>
        </>
      }
    >
      <Modal opened={sending} onClose={close} title="Send events to this pipeline" size="lg">
        <SendSnippets pipeline={pipeline.data} />
      </Modal>
      <Tabs
        value={TABS.includes(tab as never) ? tab : 'overview'}
        onChange={(next) =>
          void navigate({
            to: '/pipelines/$pipelineId',
            params: { pipelineId },
            search: next === 'overview' || next === null ? {} : { tab: next },
          })
        }
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {TABS.map((key) => (
            <Tabs.Tab key={key} value={key}>
              {LABELS[key]}
              {key === 'integrations' && count !== undefined ? ` ${count}` : ''}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Suspense fallback={<Loading what="this tab" />}>
          <Tabs.Panel value="overview">
            <Overview pipelineId={pipelineId} />
          </Tabs.Panel>
          <Tabs.Panel value="integrations">
            <Integrations pipelineId={pipelineId} />
          </Tabs.Panel>
          <Tabs.Panel value="transformations">
            <Steps pipelineId={pipelineId} />
          </Tabs.Panel>
          <Tabs.Panel value="tracking-plan">
            <Plan pipelineId={pipelineId} />
          </Tabs.Panel>
          <Tabs.Panel value="consent">
            <Consent pipelineId={pipelineId} />
          </Tabs.Panel>
          <Tabs.Panel value="collector">
            <Collector pipeline={pipeline.data} />
          </Tabs.Panel>
          <Tabs.Panel value="settings">
            <Settings pipeline={pipeline.data} />
          </Tabs.Panel>
        </Suspense>
      </Tabs>
    </Page>
  );
}
