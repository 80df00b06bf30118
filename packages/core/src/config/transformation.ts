import { EventFilterSchema } from './event-filter.ts';
import { chosen, defaulted, defineResource, made, required, type ValueOf, type WritableOf } from './resource.ts';
import type { Rule } from './rules.ts';
import { Id, Name, Nullable, OneOf, Timestamp } from './schema.ts';
import { Type } from './type.ts';

/** Transformations with the same position run in the order of their creation, so several may share the maximum. */
export const MAX_POSITION = 1_000_000;

export const TransformationKind = OneOf(['rules', 'code'], { description: 'Whether `rules` or `code` is run.' });
/** The rules themselves are checked by compiling them. */
export const Rules = Type.Unsafe<Rule[]>({
  type: 'array',
  maxItems: 200,
  items: { type: 'object', additionalProperties: true },
  description: '`set`, `rename`, `delete`, `map`, `filter` and `compute`, each with an optional `condition`.',
});
export const Code = Type.String({
  maxLength: 100_000,
  description: 'JavaScript: `function transform(event, { parameters }) { return event }`. Returning null drops the event.',
});

export const transformation = defineResource(
  'Transformation',
  {
    id: made(Id('trf')),
    org_id: made(Id('org')),
    pipeline_id: made(Id('pl')),
    name: required(Name()),
    kind: required(TransformationKind),
    rules: defaulted(Rules, []),
    code: defaulted(Code, ''),
    event_filter: defaulted(Nullable(EventFilterSchema), null),
    enabled: defaulted(Type.Boolean({ description: 'A disabled transformation is skipped.' }), true),
    position: chosen(
      Type.Integer({
        minimum: 0,
        maximum: MAX_POSITION,
        'x-fault': `must be a whole number from 0 to ${MAX_POSITION}`,
        description: 'Transformations run from the lowest to the highest; of two with the same position, the older one first.',
      }),
    ),
    created_at: made(Timestamp),
    updated_at: made(Timestamp),
  },
  {
    examples: {
      create: { name: 'Tidy up', kind: 'rules', rules: [{ type: 'delete', target: 'properties.internal_note' }] },
      update: { name: 'Tidy up more', enabled: false },
    },
  },
);
export type Transformation = ValueOf<typeof transformation>;
/** A new transformation without a position runs after all others. */
export type TransformationFields = Omit<WritableOf<typeof transformation>, 'position'> & { position?: number };
