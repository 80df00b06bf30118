import { CONSENT_CATEGORY_PATTERN } from './consent-category.ts';
import { DeliveryModeSchema } from './delivery-mode.ts';
import { EventFilterSchema } from './event-filter.ts';
import { chosen, defaulted, defineResource, fixed, joined, made, shown, type ValueOf, type WritableOf } from './resource.ts';
import { Closed, Id, Name, Nullable, named, OneOf, Timestamp } from './schema.ts';
import { Type } from './type.ts';

const Health = named(
  'IntegrationHealth',
  Closed({
    status: OneOf(['ok', 'failing', 'paused', 'misconfigured'], {
      description:
        '`failing`: the last delivery failed, it could not be started, or the event log cannot be reached; `last_error` says why. `paused`: disabled, or held by a rate limit. `misconfigured`: nothing can be sent, and `warnings` say why.',
    }),
    last_success_at: Nullable(Timestamp),
    last_error: Nullable(Type.String()),
    waiting: Type.Integer({
      description: 'Events in the backlog. 0 while the event log cannot be reached, and then `last_error` says so.',
    }),
    oldest_waiting_at: Nullable(Timestamp),
    warnings: Type.Array(Type.String()),
  }),
);

/** A revision of a template, assigned to a pipeline. */
export const integration = defineResource(
  'Integration',
  {
    id: made(Id('int')),
    org_id: made(Id('org')),
    pipeline_id: made(Id('pl')),
    template_id: fixed(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'The template whose revision is delivered.',
        examples: ['tpl_01jv0g3m5w8k2d7c9q4r6t1x0z'],
      }),
    ),
    revision_number: chosen(
      Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'The pinned revision. A new integration pins the latest.' }),
    ),
    name: chosen(Name({ description: 'Defaults to the name of the template.' })),
    enabled: defaulted(Type.Boolean({ description: 'Events that arrive while it is disabled are dropped.' }), true),
    consent_category: defaulted(
      Nullable(
        Type.String({
          pattern: CONSENT_CATEGORY_PATTERN,
          description: 'Events without consent for this category are dropped. Null delivers every event.',
          'x-fault': 'must be a category such as marketing, or null',
          examples: ['marketing'],
        }),
      ),
      null,
    ),
    event_filter: defaulted(Nullable(EventFilterSchema), null),
    rate_limit_rps: defaulted(
      Nullable(
        Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000, description: "Requests per second. Null takes the vendor's limit." }),
      ),
      null,
    ),
    rate_limit_burst: defaulted(
      Nullable(Type.Number({ minimum: 1, maximum: 1_000_000, description: 'Burst capacity. Null takes twice the rate.' })),
      null,
    ),
    rate_limit_daily: defaulted(
      Nullable(
        Type.Integer({
          minimum: 0,
          maximum: 1_000_000_000_000,
          description: "Requests per day; 0 means no limit. Null takes the vendor's limit, which is 0 for most.",
        }),
      ),
      null,
    ),
    max_in_flight: defaulted(
      Nullable(
        Type.Integer({
          minimum: 1,
          maximum: 256,
          description:
            "Most requests that wait for the vendor's answer at once. Null takes the vendor's number. Data stores, files and streams take at most their own.",
        }),
      ),
      null,
    ),
    max_deliverers: defaulted(
      Type.Integer({
        minimum: 1,
        maximum: 16,
        description:
          'Most processes that deliver this integration at the same time, each a part of the visitors. Rate and in-flight limits hold over all of them. One process if there is a daily limit. Has no effect on the embedded stores.',
      }),
      1,
    ),
    vendor: joined(Type.String({ description: 'Catalog key of the vendor.', examples: ['webhook'] })),
    delivery_mode: joined(DeliveryModeSchema),
    latest_revision_number: shown(Type.Integer({ description: 'The newest revision of the template.' })),
    health: shown(Health),
    created_at: made(Timestamp),
    updated_at: made(Timestamp),
  },
  {
    // Of the list of all integrations.
    ignored: ['pipeline_name'],
    examples: {
      create: { template_id: 'tpl_01jv0g3m5w8k2d7c9q4r6t1x0z', consent_category: 'marketing' },
      update: { enabled: false },
    },
  },
);
export type Integration = ValueOf<typeof integration>;
export type IntegrationFields = WritableOf<typeof integration>;
