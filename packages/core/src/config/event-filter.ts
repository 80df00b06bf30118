import type { Static } from 'typebox';
import { MAX_NAME_LENGTH } from '../event/validate.ts';
import { Closed, named } from './schema.ts';
import { Type } from './type.ts';

export const EventFilterSchema = named(
  'EventFilter',
  Closed(
    {
      event_names: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH }), {
          maxItems: 1_000,
          description: 'Names of track events, and `@page`, `@identify`, `@group` for the other types.',
        }),
      ),
    },
    { description: 'Restricts which events pass. An empty filter passes every event.' },
  ),
);
export type EventFilter = Static<typeof EventFilterSchema>;
