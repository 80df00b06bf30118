import { Body, Closed, Id, Name, named, Timestamp } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import { ApiError } from '../../../http/errors.ts';
import { findOrganisation, type Organisation, renameOrganisation } from '../../../stores/config/organisations.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { ifMatchHeader, requireUnchanged } from '../if-match.ts';

const tags = ['Organisation'];
const OrganisationAnswer = named('Organisation', Closed({ id: Id('org'), name: Name(), created_at: Timestamp, updated_at: Timestamp }));

export function organisationRoutes(app: AdminApp, context: AdminContext): void {
  app.get(
    '/organisation',
    { config: { role: 'viewer' }, schema: { summary: 'Read the organisation', tags, response: { 200: OrganisationAnswer } } },
    async ({ user }) => found(await findOrganisation(context.db, user.org_id)),
  );

  app.put(
    '/organisation',
    {
      config: { role: 'admin', errors: ['CONFLICT'] },
      schema: {
        summary: 'Rename the organisation',
        tags,
        headers: ifMatchHeader('The `updated_at` that was read.', '2026-05-01T12:00:00.000Z'),
        body: Body({ name: Type.Optional(Name()) }, ['id', 'created_at', 'updated_at'], { examples: [{ name: 'Example Ltd' }] }),
        response: { 200: OrganisationAnswer },
      },
    },
    ({ body, user, headers }) =>
      context.write(user, 'organisation.updated', async (tx, change) => {
        const before = found(await findOrganisation(tx, user.org_id));
        requireUnchanged(headers['if-match'], before.updated_at, 'The organisation');
        const after = found(await renameOrganisation(tx, user.org_id, body.name ?? before.name, change.stamp));
        change.audit({ id: before.id, before, after });
        return after;
      }),
  );
}

function found(organisation: Organisation | undefined): Organisation {
  if (organisation === undefined) throw new ApiError('NOT_FOUND');
  return organisation;
}
