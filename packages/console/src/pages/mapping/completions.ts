/** What a source field can be: fields that events of the pipeline really have, fields of the event shown, and the canonical schema. */
import { CLICK_IDS } from '@firsthand/core/context/click-ids.ts';
import { SYNC_IDS } from '@firsthand/core/context/vendor-syncs.ts';
import { CONSENT_CATEGORIES } from '@firsthand/core/vendor/definition.ts';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, call } from '../../api.ts';

export interface Completion {
  path: string;
  /** `"EUR" text`, `129.9 number`. */
  note: string;
  /** How many kinds of events carry it; undefined if it was not observed. */
  seen?: number;
}

/** What processing puts in the context, by its part. */
const CONTEXT: Record<string, readonly string[]> = {
  page: ['url', 'path', 'title', 'referrer', 'search'],
  campaign: ['source', 'medium', 'name', 'term', 'content'],
  click_ids: CLICK_IDS.map(({ param }) => param),
  vendor_ids: [...SYNC_IDS.values()].flat(),
  session: ['id', 'number', 'started_at', 'event_index', 'is_new'],
  consent: CONSENT_CATEGORIES.map((category) => `canonical.${category}`),
  device: ['type', 'manufacturer', 'model'],
  os: ['name', 'version'],
  browser: ['name', 'version'],
  geo: ['country', 'region', 'city', 'postal_code', 'timezone'],
  bot: ['is_bot'],
};
/** Of the canonical event, which every event has or may have. */
const CANONICAL: readonly string[] = [
  ...['event', 'event_id', 'type', 'original_type', 'name', 'timestamp', 'user_id', 'anonymous_id', 'group_id'],
  ...['ip', 'user_agent', 'locale', 'timezone'].map((name) => `context.${name}`),
  ...Object.entries(CONTEXT).flatMap(([part, names]) => names.map((name) => `context.${part}.${name}`)),
];

/** Fields and names of events that were observed. */
const fieldsQuery = (pipelineId: string | undefined) =>
  queryOptions({
    queryKey: ['fields', pipelineId],
    enabled: pipelineId !== undefined,
    staleTime: 300_000,
    queryFn: () => call(api.GET('/v1/admin/pipelines/{id}/fields', { params: { path: { id: pipelineId as string } } })),
  });

/** Names of events that were observed, and of the other types. */
export function useEventNames(pipelineId: string | undefined): string[] {
  const { data } = useQuery(fieldsQuery(pipelineId));
  return useMemo(
    () => [...new Set([...(data?.fields ?? []).flatMap(({ events }) => events), '@page', '@identify', '@group'])].sort(),
    [data],
  );
}

export function useCompletions(pipelineId: string | undefined, event: object): ReadonlyMap<string, Completion> {
  const observed = useQuery(fieldsQuery(pipelineId));
  return useMemo(() => {
    const all = new Map<string, Completion>();
    for (const { path, types, example, events } of observed.data?.fields ?? [])
      if (types.some((type) => type !== 'object')) all.set(path, { path, note: noteOf(example, types.join(' or ')), seen: events.length });
    for (const path of pathsOf(event)) if (!all.has(path)) all.set(path, { path, note: 'in this event' });
    for (const path of CANONICAL) if (!all.has(path)) all.set(path, { path, note: 'canonical' });
    return all;
  }, [observed.data, event]);
}
function noteOf(example: unknown, types: string): string {
  const text = JSON.stringify(example);
  return `${text.length > 40 ? `${text.slice(0, 39)}…` : text} ${types}`;
}

/** Paths of the event's own fields; lists as `[*]`. */
export function pathsOf(value: unknown, path = '', found: string[] = []): string[] {
  if (Array.isArray(value)) {
    if (value.length > 0) pathsOf(value[0], `${path}[*]`, found);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) pathsOf(inner, path === '' ? key : `${path}.${key}`, found);
  } else if (path !== '') found.push(path);
  return [...new Set(found)];
}

/** Those that contain what is typed; the ones that begin with it first, then the ones that were observed. */
export function matching(completions: ReadonlyMap<string, Completion>, typed: string, most: number): Completion[] {
  const wanted = typed.toLowerCase();
  const found: [number, Completion][] = [];
  for (const completion of completions.values()) {
    const at = completion.path.toLowerCase().indexOf(wanted);
    if (at === -1) continue;
    const last = completion.path.lastIndexOf('.') + 1;
    found.push([(at === 0 || at === last ? 0 : 2) + (completion.seen === undefined ? 1 : 0), completion]);
  }
  return found
    .sort(([a, x], [b, y]) => a - b || (y.seen ?? 0) - (x.seen ?? 0) || x.path.length - y.path.length)
    .slice(0, most)
    .map(([, completion]) => completion);
}
