/** Loaded once the first page stands. Ctrl K / ⌘ K: pages, pipelines, vendors of the catalog, and an event by its id. */
import { Spotlight, type SpotlightActionData, type SpotlightActionGroupData } from '@mantine/spotlight';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { catalogQuery, pipelinesQuery } from '../queries.ts';
import { PAGES } from './pages.ts';

export function Search() {
  const navigate = useNavigate();
  const [query, setQuery] = useState('');
  const pipelines = useQuery(pipelinesQuery());
  const catalog = useQuery({ ...catalogQuery(), enabled: query !== '' });
  const wanted = query.trim();
  const go = (label: string, id: string, open: () => unknown): SpotlightActionData => ({ id, label, onClick: () => void open() });
  const groups: SpotlightActionGroupData[] = [
    { group: 'Pages', actions: PAGES.map(({ to, label }) => go(label, to, () => navigate({ to }))) },
    {
      group: 'Pipelines',
      actions: (pipelines.data?.pipelines ?? []).map(({ id, name }) =>
        go(name, id, () => navigate({ to: '/pipelines/$pipelineId', params: { pipelineId: id } })),
      ),
    },
    {
      group: 'Catalog',
      actions: (catalog.data?.vendors ?? []).map(({ key, name }) =>
        go(name, `vendor ${key}`, () => navigate({ to: '/catalog/$vendor', params: { vendor: key } })),
      ),
    },
  ];
  // An id has no blanks and is long enough not to be a word that somebody is typing.
  if (/^\S{8,255}$/.test(wanted))
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
      searchProps={{ placeholder: 'Search …', 'aria-label': 'Search' }}
    />
  );
}
