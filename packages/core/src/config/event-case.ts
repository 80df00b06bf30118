import { defaulted, defineResource, fixed, made, type ValueOf } from './resource.ts';
import { AnyObject, Id, Name, Nullable, Timestamp } from './schema.ts';
import { Type } from './type.ts';

/** An event that somebody saved to try mappings and transformations on. It is never processed or delivered. */
export const testCase = defineResource(
  'TestCase',
  {
    id: made(Id('tc')),
    org_id: made(Id('org')),
    name: fixed(Name({ examples: ['Order with two products'] })),
    event: fixed(AnyObject({ description: 'The canonical event.' })),
    pipeline_id: defaulted(
      Nullable(
        Type.String({ minLength: 1, maxLength: 100, description: 'The pipeline it belongs to. Null offers it for every pipeline.' }),
      ),
      null,
    ),
    created_by: made(Id('usr')),
    created_at: made(Timestamp),
  },
  {
    examples: {
      create: {
        name: 'Order with two products',
        event: { type: 'track', event: 'Order Completed', properties: { total: 42, currency: 'EUR' } },
      },
      update: {},
    },
  },
);
export type TestCase = ValueOf<typeof testCase>;
