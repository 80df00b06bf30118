import { AllOptional, Body, Closed, Id, Nullable, named, OneOf, Timestamp } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import { ApiError } from '../../../http/errors.ts';
import { IdParams, ListOf, PageQuery, pageOf } from '../../../http/schema.ts';
import { newId } from '../../../runtime/ids.ts';
import { deleteApiTokensAbove } from '../../../stores/config/api-tokens.ts';
import type { Db, UserRole } from '../../../stores/config/schema.ts';
import { revokeTokens } from '../../../stores/config/sessions.ts';
import {
  countActiveOwners,
  deleteUser,
  findUser,
  insertUser,
  isEmailTaken,
  listUsers,
  type User,
  updateUser,
} from '../../../stores/config/users.ts';
import { normaliseEmail } from '../auth/email.ts';
import { hashPassword, MAX_PASSWORD, MIN_PASSWORD } from '../auth/passwords.ts';
import { createSignIn } from '../auth/sign-in.ts';
import { type Actor, type AdminApp, type AdminContext, ROLE_ORDER, roleReaches } from '../deps.ts';
import { ifMatchHeader, requireUnchanged } from '../if-match.ts';

const tags = ['Users'];
const Email = Type.String({
  maxLength: 254,
  pattern: '^\\s*[^\\s@]+@[^\\s@]+\\s*$',
  'x-fault': 'must be an e-mail address',
  examples: ['ada@example.com'],
});
const Password = Type.String({
  minLength: MIN_PASSWORD,
  maxLength: MAX_PASSWORD,
  'x-fault': `must be ${MIN_PASSWORD} characters or more, at most ${MAX_PASSWORD}`,
});
const fields = {
  email: Email,
  name: Type.String({ maxLength: 200 }),
  role: OneOf(ROLE_ORDER, { description: 'Each role may do what the ones before it may.' }),
  status: OneOf(['active', 'disabled']),
};
const UserAnswer = named(
  'User',
  Closed({
    id: Id('usr'),
    org_id: Id('org'),
    ...fields,
    last_login_at: Nullable(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
);
const readOnly = ['id', 'org_id', 'last_login_at', 'created_at', 'updated_at'];
const UserCreate = Body({ ...AllOptional(fields), email: Email, password: Password }, readOnly, {
  examples: [{ email: 'ada@example.com', name: 'Ada', role: 'editor', password: 'correct horse battery staple' }],
});
const PasswordChange = Body({ current_password: Type.String({ minLength: 1, maxLength: MAX_PASSWORD }), new_password: Password }, [], {
  examples: [{ current_password: 'correct horse battery', new_password: 'correct horse battery' }],
});
const UserUpdate = Body(AllOptional(fields), readOnly, { examples: [{ role: 'viewer' }] });

export function userRoutes(app: AdminApp, context: AdminContext): void {
  const { db, clock } = context;
  const signIn = createSignIn(context);

  app.get(
    '/users',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'List users',
        description: 'Newest first.',
        tags,
        querystring: Type.Object({
          search: Type.Optional(Type.String({ description: 'Part of the name or the e-mail address, in any case.' })),
          ...PageQuery,
        }),
        response: { 200: ListOf('users', UserAnswer) },
      },
    },
    async ({ query, user }) => {
      const page = pageOf(query);
      const { rows, total } = await listUsers(db, user.org_id, query.search, page);
      return { users: rows, total, ...page };
    },
  );

  app.get(
    '/users/me',
    { config: { role: 'viewer' }, schema: { summary: 'Read the caller', tags, response: { 200: UserAnswer } } },
    async ({ user }) => found(await findUser(db, user.org_id, user.id)),
  );

  app.put(
    '/users/me/password',
    {
      config: { role: 'viewer', peopleOnly: true, errors: ['INVALID_CREDENTIALS', 'ACCOUNT_LOCKED'] },
      schema: {
        summary: "Change the caller's password",
        description: "Ends the caller's other sessions. A wrong current password counts as a failed login.",
        tags,
        body: PasswordChange,
        response: { 200: UserAnswer },
      },
    },
    async ({ body, user }) => {
      await signIn.checkPassword(user, body.current_password);
      const password_hash = await hashPassword(body.new_password, user.org_id);
      return await context.write(user, 'user.password_changed', async (tx, change) => {
        const changed = found(await updateUser(tx, user.org_id, user.id, { password_hash }, change.stamp.now));
        await revokeTokens(tx, user.id, user.session_id);
        change.audit({ id: user.id });
        return changed;
      });
    },
  );

  app.post(
    '/users',
    {
      config: { role: 'admin', peopleOnly: true, errors: ['DUPLICATE_RESOURCE'] },
      schema: {
        summary: 'Add a user',
        description: 'Giving the role owner needs an owner. The address is unique in the installation.',
        tags,
        body: UserCreate,
        response: { 201: UserAnswer },
      },
    },
    async ({ body, user }, reply) => {
      const role = body.role ?? 'viewer';
      requireOwnerFor(user, [role]);
      // Again inside the transaction: this one saves the hash.
      await freeEmail(db, body.email);
      const password_hash = await hashPassword(body.password, user.org_id);
      const created = await context.write(user, 'user.created', async (tx, change) => {
        const email = await freeEmail(tx, body.email);
        const added = await insertUser(tx, {
          id: newId('usr', clock.now()),
          org_id: user.org_id,
          email,
          name: body.name ?? '',
          role,
          status: body.status ?? 'active',
          created_at: change.stamp.now,
          password_hash,
        });
        change.audit({ id: added.id, after: added });
        return added;
      });
      return reply.code(201).send(created);
    },
  );

  app.get(
    '/users/:id',
    { config: { role: 'viewer' }, schema: { summary: 'Read a user', tags, params: IdParams, response: { 200: UserAnswer } } },
    async ({ params, user }) => found(await findUser(db, user.org_id, params.id)),
  );

  app.put(
    '/users/:id',
    {
      config: { role: 'admin', peopleOnly: true, errors: ['DUPLICATE_RESOURCE', 'CONFLICT'] },
      schema: {
        summary: 'Change a user',
        description:
          'Changing an owner, or making one, needs an owner. A user who is demoted or disabled is signed out at once; API tokens with more than the new role end. With `If-Match: <updated_at>` the change is rejected if somebody else changed the user in the meantime.',
        tags,
        params: IdParams,
        headers: ifMatchHeader('The `updated_at` that was read.', '2026-05-01T12:00:00.000Z'),
        body: UserUpdate,
        response: { 200: UserAnswer },
      },
    },
    ({ params, body, user, headers }) =>
      context.write(user, 'user.updated', async (tx, change) => {
        const before = found(await findUser(tx, user.org_id, params.id));
        requireOwnerFor(user, [before.role, body.role ?? before.role]);
        requireUnchanged(headers['if-match'], before.updated_at, 'The user');
        const set = { ...body, ...(body.email === undefined ? {} : { email: await freeEmail(tx, body.email, before.id) }) };
        const after = found(await updateUser(tx, user.org_id, before.id, set, change.stamp.now));
        if (isLesser(before, after)) {
          await revokeTokens(tx, before.id);
          await deleteApiTokensAbove(tx, before.id, rolesUpTo(after.role));
        }
        await requireAnOwner(tx, user.org_id);
        change.audit({ id: before.id, before, after });
        return after;
      }),
  );

  app.delete(
    '/users/:id',
    {
      config: { role: 'admin', peopleOnly: true, errors: ['CONFLICT'] },
      schema: {
        summary: 'Remove a user',
        description: 'Every token of the user ends at once, API tokens too.',
        tags,
        params: IdParams,
        response: { 204: Type.Null({ description: 'Removed' }) },
      },
    },
    async ({ params, user }, reply) => {
      await context.write(user, 'user.deleted', async (tx, change) => {
        const before = found(await findUser(tx, user.org_id, params.id));
        requireOwnerFor(user, [before.role]);
        await deleteUser(tx, user.org_id, before.id);
        await requireAnOwner(tx, user.org_id);
        change.audit({ id: before.id, before });
      });
      return reply.code(204).send(null);
    },
  );
}

function found(user: User | undefined): User {
  if (user === undefined) throw new ApiError('NOT_FOUND', { message: 'There is no such user.' });
  return user;
}
export function requireOwnerFor(actor: Actor, roles: UserRole[]): void {
  if (roles.includes('owner') && actor.role !== 'owner') throw new ApiError('FORBIDDEN', { message: 'Only an owner may do this.' });
}
/** Checked after the change, inside its transaction. Writes are serialised, so two owners cannot remove each other. */
async function requireAnOwner(tx: Db, orgId: string): Promise<void> {
  if ((await countActiveOwners(tx, orgId)) === 0)
    throw new ApiError('CONFLICT', { message: 'The last owner can be neither removed, demoted nor disabled.' });
}
async function freeEmail(tx: Db, sent: string, ownId?: string): Promise<string> {
  const email = normaliseEmail(sent);
  if (await isEmailTaken(tx, email, ownId))
    throw new ApiError('DUPLICATE_RESOURCE', {
      message: 'This e-mail address is in use.',
      details: [{ field: 'email', message: 'is taken' }],
    });
  return email;
}
function rolesUpTo(role: UserRole): UserRole[] {
  return ROLE_ORDER.filter((allowed) => roleReaches(role, allowed));
}
function isLesser(before: User, after: User): boolean {
  return !roleReaches(after.role, before.role) || (before.status === 'active' && after.status === 'disabled');
}
