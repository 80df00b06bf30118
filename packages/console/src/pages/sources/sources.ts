import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
import type { operations } from '../../generated/api.d.ts';
import { type SavedPart, savePart } from '../../save-part.ts';

/** Begins the key of every list of sources. */
export const SOURCES = ['webhook-sources'];
const PAGE = 50;

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

const PROVIDERS: Record<Source['provider'], string> = {
  stripe: 'Stripe',
  shopify: 'Shopify',
  hubspot: 'HubSpot',
  typeform: 'Typeform',
  intercom: 'Intercom',
  github: 'GitHub',
  svix: 'Svix',
  custom: 'Custom webhook',
};
/** As the provider writes its name. */
export const providerName = (provider: Source['provider']): string => PROVIDERS[provider];

/** How often an open panel asks; the state of a connection changes seldom. */
const STATUS_EVERY_MS = 10_000;
export const sourceStatusQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhook-source-status', id],
    queryFn: () => call(api.GET('/v1/admin/webhook-sources/{id}/status', { params: { path: { id } } })),
    refetchInterval: STATUS_EVERY_MS,
  });

type Change = NonNullable<operations['updateWebhookSource']['requestBody']>['content']['application/json'];
export function saveSource(base: Source, part: (source: Source) => unknown, body: Change): Promise<SavedPart<Source>> {
  const path = { id: base.id };
  return savePart({
    base,
    part,
    put: (updatedAt) => call(api.PUT('/v1/admin/webhook-sources/{id}', { params: { path, header: { 'if-match': updatedAt } }, body })),
    read: () => call(api.GET('/v1/admin/webhook-sources/{id}', { params: { path } })),
  });
}
