import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
import { isConflict } from '../../components/conflict.tsx';
import { isSameJson } from '../../components/loose-value.ts';
import type { operations } from '../../generated/api.d.ts';

/** Begins the key of every list of sources. */
export const SOURCES = ['webhook-sources'];
export const PAGE = 50;

export const fetchSources = (search: string, offset: number) =>
  call(api.GET('/v1/admin/webhook-sources', { params: { query: { ...(search === '' ? {} : { search }), limit: PAGE, offset } } }));
export type Source = Awaited<ReturnType<typeof fetchSources>>['webhook_sources'][number];

/** One source, also where the list has not come to it. */
export const useSource = (id: string | undefined) =>
  useQuery({
    queryKey: [...SOURCES, 'one', id],
    enabled: id !== undefined,
    queryFn: () => call(api.GET('/v1/admin/webhook-sources/{id}', { params: { path: { id: id ?? '' } } })),
  });

/** How often an open panel asks; the state of a connection changes seldom. */
const STATUS_EVERY_MS = 10_000;
export const sourceStatusQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhook-source-status', id],
    queryFn: () => call(api.GET('/v1/admin/webhook-sources/{id}/status', { params: { path: { id } } })),
    refetchInterval: STATUS_EVERY_MS,
  });

type Change = NonNullable<operations['updateWebhookSource']['requestBody']>['content']['application/json'];
export type SavedPart = { kind: 'saved'; source: Source } | { kind: 'conflict'; theirs: Source };
/** Saves what was typed of a part of `base`. Somebody else's change of the same part is a conflict; one of another part is not. */
export async function savePart(base: Source, part: (source: Source) => unknown, body: Change): Promise<SavedPart> {
  const path = { id: base.id };
  const put = (stamp: string) => call(api.PUT('/v1/admin/webhook-sources/{id}', { params: { path, header: { 'if-match': stamp } }, body }));
  try {
    return { kind: 'saved', source: await put(base.updated_at) };
  } catch (error) {
    if (!isConflict(error)) throw error;
    const theirs = await call(api.GET('/v1/admin/webhook-sources/{id}', { params: { path } }));
    if (theirs.updated_at === base.updated_at) throw error;
    if (!isSameJson(part(theirs), part(base))) return { kind: 'conflict', theirs };
    return { kind: 'saved', source: await put(theirs.updated_at) };
  }
}
