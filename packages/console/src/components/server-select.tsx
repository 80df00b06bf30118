/** Choices among more than a list can hold: the service searches, and the choice that is set has its name although no page shows it. */
import { MultiSelect, type MultiSelectProps, type OptionsFilter, Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, call } from '../api.ts';
import { number } from '../format.ts';
import { useIntegrationNames, usePipelineNames } from '../names.ts';

const asFound: OptionsFilter = ({ options }) => options;
const SHOWN = 50;
const TYPING_MS = 200;

interface Choice {
  value: string;
  label: string;
}
interface Found {
  choices: Choice[];
  total: number;
}
type Find = (search: string) => Promise<Found>;
const searchOf = (search: string) => ({ limit: SHOWN, ...(search === '' ? {} : { search }) });

async function findPipelines(search: string): Promise<Found> {
  const { pipelines, total } = await call(api.GET('/v1/admin/pipelines', { params: { query: searchOf(search) } }));
  return { choices: pipelines.map(({ id, name }) => ({ value: id, label: name })), total };
}
const findIntegrations =
  (pipelineId: string | undefined): Find =>
  async (search) => {
    const scope = pipelineId === undefined ? {} : { pipeline_ids: pipelineId };
    const { integrations, total } = await call(api.GET('/v1/admin/integrations', { params: { query: { ...searchOf(search), ...scope } } }));
    const label = (name: string, pipeline: string) => (pipelineId === undefined ? `${name} · ${pipeline}` : name);
    return { choices: integrations.map(({ id, name, pipeline_name }) => ({ value: id, label: label(name, pipeline_name) })), total };
  };
const findSources =
  (pipelineId: string | undefined): Find =>
  async (search) => {
    const scope = pipelineId === undefined ? {} : { pipeline_id: pipelineId };
    const { webhook_sources, total } = await call(
      api.GET('/v1/admin/webhook-sources', { params: { query: { ...searchOf(search), ...scope } } }),
    );
    return { choices: webhook_sources.map(({ id, name }) => ({ value: id, label: name })), total };
  };
async function findTemplates(search: string): Promise<Found> {
  const { templates, total } = await call(api.GET('/v1/admin/integration-templates', { params: { query: searchOf(search) } }));
  return { choices: templates.map(({ id, name }) => ({ value: id, label: name })), total };
}
async function findUsers(search: string): Promise<Found> {
  const { users, total } = await call(api.GET('/v1/admin/users', { params: { query: searchOf(search) } }));
  return { choices: users.map(({ id, email }) => ({ value: id, label: email })), total };
}

/** What is typed, what the service found for it, and the chosen entries, which stay in the list whatever is typed. */
function useChoices(kind: readonly unknown[], find: Find, chosen: readonly Choice[]) {
  const [typed, setTyped] = useState('');
  // The field shows the name of the chosen entry, which is not a search.
  const wanted = chosen.some(({ label }) => label === typed) ? '' : typed.trim();
  const [search] = useDebouncedValue(wanted, TYPING_MS);
  const { data, isError } = useQuery({
    queryKey: ['choices', ...kind, search],
    queryFn: () => find(search),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
  const found = data?.choices ?? [];
  const missing = chosen.filter(({ value }) => !found.some((choice) => choice.value === value));
  const hidden = (data?.total ?? 0) - found.length;
  const more = hidden > 0 ? [{ value: '', label: `… ${number(hidden)} more: type to find them`, disabled: true }] : [];
  return {
    data: [...missing, ...found, ...more],
    searchable: true,
    searchValue: typed,
    onSearchChange: setTyped,
    filter: asFound,
    nothingFoundMessage: isError ? 'They could not be read.' : data === undefined ? 'Searching …' : 'Nothing found',
  };
}

type OneProps = Omit<SelectProps, 'data' | 'searchable' | 'filter'>;
const chosenOf = (value: string | null | undefined, names: ReadonlyMap<string, string>): Choice[] =>
  value === null || value === undefined || value === '' ? [] : [{ value, label: names.get(value) ?? value }];
const idsOf = (value: string | null | undefined): string[] => (value === null || value === undefined || value === '' ? [] : [value]);

export function PipelineSelect(props: OneProps) {
  const names = usePipelineNames(idsOf(props.value));
  return <Select {...props} {...useChoices(['pipelines'], findPipelines, chosenOf(props.value, names))} />;
}
/** Without a pipeline, the integrations of all of them, with the name of theirs. */
export function IntegrationSelect({ pipelineId, ...props }: OneProps & { pipelineId?: string | undefined }) {
  const names = useIntegrationNames(idsOf(props.value));
  return <Select {...props} {...useChoices(['integrations', pipelineId], findIntegrations(pipelineId), chosenOf(props.value, names))} />;
}
/** `kinds` stand above the webhook sources. */
export function SourceSelect({ pipelineId, kinds, ...props }: OneProps & { pipelineId: string | undefined; kinds: readonly Choice[] }) {
  const { data, ...choices } = useChoices(['sources', pipelineId], findSources(pipelineId), []);
  const typed = choices.searchValue.trim().toLowerCase();
  return <Select {...props} {...choices} data={[...kinds.filter(({ label }) => label.includes(typed)), ...data]} />;
}
export function useSourceName(id: string | undefined): string | undefined {
  return useQuery({
    queryKey: ['webhook-source', id, 'name'],
    enabled: id !== undefined,
    queryFn: async () => (await call(api.GET('/v1/admin/webhook-sources/{id}', { params: { path: { id: id ?? '' } } }))).name,
    retry: false, // a source that was removed keeps its events
  }).data;
}
export function TemplateSelect(props: OneProps) {
  const { value } = props;
  const { data } = useQuery({
    queryKey: ['template', value, 'name'],
    enabled: idsOf(value).length > 0,
    queryFn: async () => (await call(api.GET('/v1/admin/integration-templates/{id}', { params: { path: { id: value ?? '' } } }))).name,
  });
  return <Select {...props} {...useChoices(['templates'], findTemplates, chosenOf(value, named(value, data)))} />;
}
export function UserSelect(props: OneProps) {
  const { value } = props;
  const { data } = useQuery({
    queryKey: ['users', value, 'email'],
    enabled: idsOf(value).length > 0,
    queryFn: async () => (await call(api.GET('/v1/admin/users/{id}', { params: { path: { id: value ?? '' } } }))).email,
    retry: false, // a user who was removed keeps entries in the audit log
  });
  return <Select {...props} {...useChoices(['users'], findUsers, chosenOf(value, named(value, data)))} />;
}
const named = (id: string | null | undefined, name: string | undefined): ReadonlyMap<string, string> =>
  new Map(name === undefined ? [] : [[id ?? '', name]]);

export function PipelinesSelect(props: Omit<MultiSelectProps, 'data' | 'searchable' | 'filter'>) {
  const chosen = props.value ?? [];
  const names = usePipelineNames(chosen);
  const choices = useChoices(
    ['pipelines'],
    findPipelines,
    chosen.map((value) => ({ value, label: names.get(value) ?? value })),
  );
  return <MultiSelect hidePickedOptions {...props} {...choices} />;
}
