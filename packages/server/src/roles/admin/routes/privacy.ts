import { Body, Timestamp } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import { MAX_NAME_LENGTH } from '@firsthand/core/event/validate.ts';
import { ApiError, invalid, missing } from '../../../http/errors.ts';
import { erasePerson } from '../../../operations/erasure.ts';
import { LOG_ERASED_WITHIN_MS } from '../../../outcomes/erasures.ts';
import type { AdminApp, AdminContext } from '../deps.ts';

export function privacyRoutes(app: AdminApp, context: AdminContext): void {
  app.post(
    '/privacy/erasure',
    {
      // Events may have any characters in their ids, also those that the other routes refuse.
      config: { role: 'admin', anyJson: true },
      schema: {
        summary: 'Forget a person',
        description:
          'Removes identity links, sessions, traces, dead letters and saved test cases at once, and the events from the log by `log_erased_by`. An event that still waits for delivery is removed from the log when it is delivered or given up. 503 where events that came earlier are still being processed after 5 s: ask again.',
        tags: ['Privacy'],
        body: Body(
          {
            user_id: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH })),
            anonymous_id: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH })),
          },
          [],
          {
            examples: [{ user_id: 'user-42' }],
          },
        ),
        response: {
          200: Type.Object({
            identity_links: Type.Integer(),
            sessions: Type.Integer(),
            traces: Type.Integer(),
            dead_letters: Type.Integer(),
            test_cases: Type.Integer({ description: 'Saved test cases whose event has an id of the person.' }),
            log_records: Type.Integer({ description: 'Records of the event log that are being removed.' }),
            log_erased_by: Timestamp,
          }),
        },
      },
    },
    async ({ body, user }) => {
      const { user_id, anonymous_id } = body;
      if (user_id !== undefined && anonymous_id !== undefined)
        throw invalid('anonymous_id', 'must not be combined with user_id: send only one of them');
      const who = user_id !== undefined ? { user_id } : anonymous_id !== undefined ? { anonymous_id } : undefined;
      if (who === undefined) throw missing('user_id', 'anonymous_id');
      const { erased, complete } = await erasePerson({ ...context.operations, db: context.db }, user.org_id, who);
      // Counts, not the identifier: the audit log is kept forever and must not contain the erased person.
      await context.write(user, 'privacy.erased', async (_tx, change) => change.audit({ id: null, after: erased }));
      if (!complete)
        throw new ApiError('UNAVAILABLE', {
          message: 'Stored data is erased, but earlier events are still being processed: repeat the request in a moment.',
          retryAfterS: 10,
        });
      return { ...erased, log_erased_by: new Date(context.clock.now() + LOG_ERASED_WITHIN_MS).toISOString() };
    },
  );
}
