/** One pipeline: its picture, its integrations, and everything that can be set on it, by tab. */
import { Button, Modal, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { Copy } from '../../components/json.tsx';
import { LinkButton } from '../../components/link-button.tsx';
import { Page } from '../../components/page.tsx';
import { RangeSelect } from '../../components/range-select.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { integrationsQuery, pipelineQuery } from '../../queries.ts';
import { SendSnippets } from '../home/send-snippets.tsx';
import { Integrations } from './integrations.tsx';
import { Overview } from './overview.tsx';
import { transformationsQuery } from './transformations-query.ts';

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
  const { tab = 'overview', snippet } = useSearch({ strict: false }) as { tab?: string; snippet?: string };
  const navigate = useNavigate();
  const setSnippet = (next: string | undefined) =>
    void navigate({ to: '.', search: (old: object) => ({ ...old, snippet: next }), replace: snippet !== undefined } as never);
  const tabs = useRef<HTMLDivElement>(null);
  const pipeline = useQuery(pipelineQuery(pipelineId));
  const integrations = useQuery(integrationsQuery(pipelineId));
  const transformations = useQuery({ ...transformationsQuery(pipelineId), staleTime: 60_000 });
  const counts: Partial<Record<(typeof TABS)[number], number | undefined>> = {
    integrations: integrations.data?.total,
    transformations: transformations.data?.transformations.length,
  };
  const isLoaded = pipeline.data !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what moves the chosen tab
  useEffect(() => showChosen(tabs.current), [tab, isLoaded, counts.integrations, counts.transformations]);
  if (pipeline.isPending) return <Loading what="the pipeline" />;
  if (pipeline.isLoadingError) return <Failed error={pipeline.error} retry={() => void pipeline.refetch()} />;
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
          <Button variant="default" onClick={() => setSnippet('html')}>
            Send events …
          </Button>
          <LinkButton variant="filled" to="/catalog" search={{ pipeline: pipelineId }}>
            Add integration
          </LinkButton>
        </>
      }
    >
      <Modal opened={snippet !== undefined} onClose={() => setSnippet(undefined)} title="Send events to this pipeline" size="lg">
        <SendSnippets pipeline={pipeline.data} chosen={snippet} onChoose={setSnippet} />
      </Modal>
      <Tabs
        value={TABS.includes(tab as never) ? tab : 'overview'}
        onChange={(next) =>
          void navigate({
            to: '/pipelines/$pipelineId',
            params: { pipelineId },
            // The range stays for the way back to the overview.
            search: ({ range }: { range?: string }) => ({
              ...(next === 'overview' || next === null ? {} : { tab: next }),
              ...(range === undefined ? {} : { range }),
            }),
          } as never)
        }
        keepMounted={false}
      >
        <Tabs.List mb="md" ref={tabs}>
          {TABS.map((key) => (
            <Tabs.Tab key={key} value={key}>
              {LABELS[key]}
              {counts[key] === undefined ? '' : ` ${counts[key]}`}
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

/** Only the first ones have room on a small screen. The page itself is not scrolled. */
function showChosen(list: HTMLElement | null): void {
  const chosen = list?.querySelector('[role=tab][aria-selected=true]');
  if (list === null || chosen == null) return;
  list.scrollLeft += middle(chosen) - middle(list);
}
function middle(element: Element): number {
  const { left, width } = element.getBoundingClientRect();
  return left + width / 2;
}
