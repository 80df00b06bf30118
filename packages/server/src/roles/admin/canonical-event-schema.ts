import { named, OneOf, Timestamp } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';

const open = { type: 'object', additionalProperties: true };
/** An event as it is stored and delivered. Only documentation: the events themselves were checked when they were accepted. */
export const CanonicalEventSchema = named(
  'CanonicalEvent',
  Type.Unsafe<CanonicalEvent>({
    type: 'object',
    additionalProperties: true,
    properties: {
      event_id: { type: 'string' },
      type: OneOf(['track', 'page', 'identify', 'group']),
      event: { type: 'string', description: 'The name of a track event.' },
      name: { type: 'string', description: 'The name of a page.' },
      anonymous_id: { type: 'string' },
      user_id: { type: 'string' },
      group_id: { type: 'string' },
      timestamp: Timestamp,
      context: open,
      properties: open,
      traits: open,
    },
  }),
);
