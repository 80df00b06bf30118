/** Loaded when it is first opened. Ctrl K / ⌘ K: pages, actions, pipelines, integrations, templates, vendors, an event by its id. */
import { useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight, type SpotlightActionData, type SpotlightActionGroupData } from '@mantine/spotlight';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, call } from '../api.ts';
import { catalogQuery, pipelinesQuery } from '../queries.ts';
import { useMay } from '../session/use-session.ts';
import { PAGES } from './pages.ts';
import { signOut } from './sign-out.tsx';

const TYPING_MS = 150;
const EACH = 10;

/** Where a group has more than it shows, typing on finds the rest. */
async function findByName(search: string) {
  const query = { params: { query: { search, limit: EACH } } };
  const [{ pipelines }, { integrations }, { templates }] = await Promise.all([
    call(api.GET('/v1/admin/pipelines', query)),
    call(api.GET('/v1/admin/integrations', query)),
    call(api.GET('/v1/admin/integration-templates', query)),
  ]);
  return { pipelines, integrations, templates };
}

export function Search() {
  const navigate = useNavigate();
  const [query, setQuery] = useState('');
  const pipelines = useQuery(pipelinesQuery());
  const asked = query !== '';
  const catalog = useQuery({ ...catalogQuery(), enabled: asked });
  const [search] = useDebouncedValue(query.trim(), TYPING_MS);
  const found = useQuery({
    queryKey: ['search', search],
    enabled: search !== '',
    queryFn: () => findByName(search),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
  const matches = search === '' ? undefined : found.data;
  const mayEdit = useMay('editor');
  const mayAdmin = useMay('admin');
  const { setColorScheme } = useMantineColorScheme();
  const wanted = query.trim();
  const go = (label: string, id: string, open: () => unknown): SpotlightActionData => ({ id, label, onClick: () => void open() });
  const groups: SpotlightActionGroupData[] = [
    { group: 'Pages', actions: PAGES.map(({ to, label }) => go(label, to, () => navigate({ to }))) },
    {
      group: 'Pipelines',
      actions: (matches?.pipelines ?? pipelines.data?.pipelines ?? []).map(({ id, name, slug }) => ({
        ...go(name, id, () => navigate({ to: '/pipelines/$pipelineId', params: { pipelineId: id } })),
        keywords: slug,
      })),
    },
    {
      group: 'Integrations',
      actions: (matches?.integrations ?? []).map(({ id, name, pipeline_id, pipeline_name }) => ({
        ...go(name, id, () =>
          navigate({
            to: '/pipelines/$pipelineId',
            params: { pipelineId: pipeline_id },
            search: { tab: 'integrations', integration: id },
          }),
        ),
        description: pipeline_name,
      })),
    },
    {
      group: 'Templates',
      actions: (matches?.templates ?? []).map(({ id, name }) =>
        go(`${name}: mapping`, id, () => navigate({ to: '/templates/$templateId', params: { templateId: id } })),
      ),
    },
    {
      group: 'Actions',
      actions: [
        ...(mayEdit
          ? [
              go('Create a pipeline', 'new pipeline', () => navigate({ to: '/pipelines', search: { new: 'yes' } })),
              go('Create a source', 'new source', () => navigate({ to: '/sources', search: { new: 'yes' } })),
              go('Create an alert', 'new alert', () => navigate({ to: '/settings', search: { new: 'yes' } })),
            ]
          : []),
        ...(mayAdmin ? [go('Add a user', 'new user', () => navigate({ to: '/team', search: { new: 'yes' } }))] : []),
        go('Replay past events to an integration', 'history', () => navigate({ to: '/dead-letters', search: { tab: 'history' } })),
        go('Use the light theme', 'light', () => setColorScheme('light')),
        go('Use the dark theme', 'dark', () => setColorScheme('dark')),
        go('Try the API', 'try', () => navigate({ to: '/try' })),
        go('Open the API documentation', 'docs', () => location.assign('/docs')),
        go('Sign out', 'sign out', () => signOut()),
      ],
    },
    {
      group: 'Catalog',
      actions: (catalog.data?.vendors ?? []).map(({ key, name }) =>
        go(name, `vendor ${key}`, () => navigate({ to: '/catalog/$vendor', params: { vendor: key } })),
      ),
    },
  ];
  // An id has no blanks, and a digit or more letters than a word that somebody is typing.
  if (/^(?=\S{1,255}$)(\S{8}|.*\d)/.test(wanted))
    groups.push({
      group: 'Event',
      actions: [go(`Open the event ${wanted}`, 'event', () => navigate({ to: '/events', search: { selected: wanted } }))],
    });
  return (
    <Spotlight
      actions={groups}
      query={query}
      onQueryChange={setQuery}
      limit={20}
      shortcut={['mod + K']}
      nothingFound="Nothing found"
      attributes={{ content: { 'aria-label': 'Search' } }}
      searchProps={{ placeholder: 'Search …', 'aria-label': 'Search' }}
    />
  );
}
