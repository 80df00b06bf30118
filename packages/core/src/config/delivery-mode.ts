import type { Static } from 'typebox';
import { named, OneOf } from './schema.ts';

export const DeliveryModeSchema = named(
  'DeliveryMode',
  OneOf(['server_side', 'client_side'], {
    description: '`server_side`: the service sends the events. `client_side`: the collector sends them from the browser.',
  }),
);
export type DeliveryMode = Static<typeof DeliveryModeSchema>;
