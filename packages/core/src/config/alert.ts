import { defaulted, defineResource, made, required, shown, type ValueOf, type WritableOf } from './resource.ts';
import { Closed, Id, Name, Nullable, named, OneOf, Timestamp } from './schema.ts';
import { Type } from './type.ts';

export const ALERT_KINDS = ['failing', 'silent', 'backlog', 'dead_letters', 'plan_violations', 'rejected'] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];
/** Kinds that look at deliveries, and can therefore be limited to one integration. */
export const DELIVERY_ALERT_KINDS: readonly AlertKind[] = ['failing', 'backlog', 'dead_letters'];

export const AlertChannelType = OneOf(['webhook', 'slack', 'email']);
const AlertChannel = named(
  'AlertChannel',
  Closed(
    {
      type: AlertChannelType,
      url: Type.Optional(
        Type.String({ minLength: 1, maxLength: 2_000, description: 'For `webhook` and `slack`: the address to post to.' }),
      ),
      to: Type.Optional(Type.String({ minLength: 3, maxLength: 320, description: 'For `email`: the address of the recipient.' })),
    },
    {
      description:
        'Addresses are stored sealed. A Slack address is a secret: it reads back as its last characters, and that mask sent back keeps it. Viewers see no whole address.',
    },
  ),
);

/** Watches counters and backlogs, and tells people when one reaches its threshold. */
export const alert = defineResource(
  'Alert',
  {
    id: made(Id('alr')),
    org_id: made(Id('org')),
    name: required(Name({ examples: ['Orders do not reach Meta'] })),
    kind: required(
      OneOf(ALERT_KINDS, {
        description:
          '`failing`: failed delivery attempts in the window. `silent`: events received in the window; fires below the threshold. `backlog`: events that wait for delivery now. `dead_letters`, `plan_violations`, `rejected`: events in the window.',
      }),
    ),
    pipeline_id: defaulted(
      Nullable(Type.String({ minLength: 1, maxLength: 100, description: 'Null watches every pipeline of the organisation.' })),
      null,
    ),
    integration_id: defaulted(
      Nullable(
        Type.String({
          minLength: 1,
          maxLength: 100,
          description: 'For `failing`, `backlog` and `dead_letters`. Null watches all of them.',
        }),
      ),
      null,
    ),
    threshold: required(
      Type.Number({
        minimum: 0,
        maximum: 1e9,
        description: 'Fires when the value reaches it; `silent` fires when the value is below it. 0 counts as 1.',
        examples: [10],
      }),
    ),
    window_minutes: required(
      Type.Integer({ minimum: 1, maximum: 1_440, description: 'The last minutes that count. Not used by `backlog`.', examples: [15] }),
    ),
    channels: required(Type.Array(AlertChannel, { minItems: 1, maxItems: 5 })),
    enabled: defaulted(Type.Boolean(), true),
    warnings: shown(Type.Array(Type.String(), { description: 'Why a channel cannot be told, such as a missing setting.' })),
    created_at: made(Timestamp),
    updated_at: made(Timestamp),
  },
  {
    examples: {
      create: {
        name: 'Orders do not reach Meta',
        kind: 'failing',
        threshold: 10,
        window_minutes: 15,
        channels: [{ type: 'slack', url: 'https://hooks.slack.com/services/T000/B000/XXXX' }],
      },
      update: { threshold: 20 },
    },
  },
);
export type Alert = ValueOf<typeof alert>;
export type AlertFields = WritableOf<typeof alert>;
export type AlertChannel = Alert['channels'][number];
