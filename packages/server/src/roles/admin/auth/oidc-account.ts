import { ApiError } from '../../../http/errors.ts';
import { newId } from '../../../runtime/ids.ts';
import { deleteApiTokensAbove } from '../../../stores/config/api-tokens.ts';
import { findFirstOrganisation } from '../../../stores/config/organisations.ts';
import type { Db, UserRole } from '../../../stores/config/schema.ts';
import { revokeTokens } from '../../../stores/config/sessions.ts';
import {
  countActiveOwners,
  findLogin,
  findUser,
  findUserBySubject,
  insertUser,
  linkSubject,
  type User,
  updateUser,
} from '../../../stores/config/users.ts';
import { type AdminContext, ROLE_ORDER, roleReaches } from '../deps.ts';
import { normaliseEmail } from './email.ts';
import type { OidcClaims } from './oidc-provider.ts';
import { type RoleMap, roleFromClaims } from './oidc-role.ts';
import { WITHOUT_PASSWORD } from './passwords.ts';
import type { Client } from './sign-in-audit.ts';

interface RoleRules {
  roleClaim: string | undefined;
  roleMap: RoleMap | undefined;
}

/**
 * The local user for verified claims: known by issuer and subject, else linked by a verified e-mail address, else created in the first
 * organisation. With a role claim the provider decides the role at every sign-in.
 */
export function createOidcAccounts(context: AdminContext, rules: RoleRules) {
  return async (claims: OidcClaims, client: Client): Promise<User> => {
    const role = rules.roleClaim === undefined ? undefined : roleFromClaims(claims, rules.roleClaim, rules.roleMap);
    if (rules.roleClaim !== undefined && role === undefined)
      throw new ApiError('OIDC_FAILED', { message: 'Your account at the identity provider has no role here. Ask an administrator.' });
    const subject = `${claims.iss} ${claims.sub}`;
    const user =
      (await findUserBySubject(context.db, subject)) ??
      (await link(claims, subject, client)) ??
      (await create(claims, subject, role, client));
    if (user.status !== 'active') throw new ApiError('OIDC_FAILED', { message: 'This account is disabled. Ask an administrator.' });
    return role === undefined || role === user.role ? user : await changeRole(user, role, client);
  };

  async function link(claims: OidcClaims, subject: string, client: Client): Promise<User | undefined> {
    const email = emailOf(claims);
    const found = await findLogin(context.db, email);
    if (found === undefined) return undefined;
    // Without a verified address, anyone who can edit their profile at the provider could take over any account.
    if (claims.email_verified !== true)
      throw new ApiError('OIDC_FAILED', { message: 'The identity provider has not verified your e-mail address, and it is in use here.' });
    return await context.write(authorOf(found, client), 'user.oidc_linked', async (tx, change) => {
      await linkSubject(tx, found.id, subject);
      change.audit({ id: found.id });
      return required(await findUser(tx, found.org_id, found.id));
    });
  }

  async function create(claims: OidcClaims, subject: string, role: UserRole = 'viewer', client: Client): Promise<User> {
    const organisation = await findFirstOrganisation(context.db);
    if (organisation === undefined) throw new ApiError('UNAVAILABLE', { message: 'There is no organisation yet.' });
    const author = { id: null, email: null, org_id: organisation.id, ...client };
    return await context.write(author, 'user.created', async (tx, change) => {
      const user = await insertUser(tx, {
        id: newId('usr', context.clock.now()),
        org_id: organisation.id,
        email: emailOf(claims),
        name: typeof claims.name === 'string' ? claims.name.slice(0, 200) : '',
        role,
        status: 'active',
        created_at: change.stamp.now,
        password_hash: WITHOUT_PASSWORD,
      });
      await linkSubject(tx, user.id, subject);
      change.audit({ id: user.id, after: user });
      return user;
    });
  }

  async function changeRole(user: User, role: UserRole, client: Client): Promise<User> {
    return await context.write(authorOf(user, client), 'user.updated', async (tx, change) => {
      const after = required(await updateUser(tx, user.org_id, user.id, { role }, change.stamp.now));
      await requireAnOwner(tx, user.org_id);
      if (!roleReaches(role, user.role)) {
        await revokeTokens(tx, user.id);
        await deleteApiTokensAbove(
          tx,
          user.id,
          ROLE_ORDER.filter((allowed) => roleReaches(role, allowed)),
        );
      }
      change.audit({ id: user.id, before: user, after });
      return after;
    });
  }
}

async function requireAnOwner(tx: Db, orgId: string): Promise<void> {
  if ((await countActiveOwners(tx, orgId)) === 0)
    throw new ApiError('OIDC_FAILED', { message: 'The identity provider would demote the last owner. Make another user owner first.' });
}

function emailOf(claims: OidcClaims): string {
  const email = typeof claims.email === 'string' ? normaliseEmail(claims.email) : '';
  if (!/^[^\s@]+@[^\s@]+$/.test(email) || email.length > 254)
    throw new ApiError('OIDC_FAILED', { message: 'The identity provider did not send your e-mail address.' });
  return email;
}
function authorOf(user: { id: string; org_id: string; email: string }, client: Client) {
  return { id: user.id, email: user.email, org_id: user.org_id, ...client };
}
function required(user: User | undefined): User {
  if (user === undefined) throw new ApiError('OIDC_FAILED', { message: 'This account has just been removed.' });
  return user;
}
