import type { Selectable } from 'kysely';
import { anyContains, countOf, type Page, type Paged, readPage } from './paging.ts';
import type { Db, UserRow } from './schema.ts';

const PUBLIC_COLUMNS = ['id', 'org_id', 'email', 'name', 'role', 'status', 'last_login_at', 'created_at', 'updated_at'] as const;
export type User = Pick<Selectable<UserRow>, (typeof PUBLIC_COLUMNS)[number]>;

export function findUser(db: Db, orgId: string, id: string): Promise<User | undefined> {
  return db.selectFrom('users').select(PUBLIC_COLUMNS).where('org_id', '=', orgId).where('id', '=', id).executeTakeFirst();
}

/** Newest first. `search`: part of the name or the e-mail address. */
export async function listUsers(db: Db, orgId: string, search: string | undefined, page: Page): Promise<Paged<User>> {
  let query = db.selectFrom('users').where('org_id', '=', orgId);
  if (search !== undefined) query = query.where(anyContains(['name', 'email'], search));
  const listed = query.select(PUBLIC_COLUMNS).orderBy('created_at', 'desc').orderBy('id', 'desc');
  return readPage(listed, page, () => countOf(query));
}

const LOGIN_COLUMNS = ['id', 'org_id', 'email', 'password_hash', 'status', 'totp_secret', 'local_login_until'] as const;
export type Login = Pick<Selectable<UserRow>, (typeof LOGIN_COLUMNS)[number]>;

/** E-mail addresses are unique in the installation, because a sign-in does not name an organisation. */
export function findLogin(db: Db, email: string): Promise<Login | undefined> {
  return db.selectFrom('users').select(LOGIN_COLUMNS).where('email', '=', email).executeTakeFirst();
}

export function findUserBySubject(db: Db, subject: string): Promise<User | undefined> {
  return db.selectFrom('users').select(PUBLIC_COLUMNS).where('oidc_subject', '=', subject).executeTakeFirst();
}
export async function linkSubject(tx: Db, id: string, subject: string): Promise<void> {
  await tx.updateTable('users').set({ oidc_subject: subject }).where('id', '=', id).execute();
}
export async function allowLocalLogin(tx: Db, id: string, until: string): Promise<void> {
  await tx.updateTable('users').set({ local_login_until: until }).where('id', '=', id).execute();
}

export async function isEmailTaken(tx: Db, email: string, exceptId?: string): Promise<boolean> {
  const row = await tx.selectFrom('users').select('id').where('email', '=', email).executeTakeFirst();
  return row !== undefined && row.id !== exceptId;
}

export async function insertUser(tx: Db, user: Omit<User, 'last_login_at' | 'updated_at'> & { password_hash: string }): Promise<User> {
  return await tx
    .insertInto('users')
    .values({ ...user, last_login_at: null, updated_at: user.created_at })
    .returning(PUBLIC_COLUMNS)
    .executeTakeFirstOrThrow();
}

export function updateUser(
  tx: Db,
  orgId: string,
  id: string,
  set: Partial<Pick<UserRow, 'email' | 'name' | 'role' | 'status' | 'password_hash' | 'last_login_at'>>,
  now: string,
): Promise<User | undefined> {
  return tx
    .updateTable('users')
    .set({ ...set, updated_at: now })
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .returning(PUBLIC_COLUMNS)
    .executeTakeFirst();
}

export async function noteLogin(tx: Db, orgId: string, id: string, now: string): Promise<void> {
  await tx.updateTable('users').set({ last_login_at: now }).where('org_id', '=', orgId).where('id', '=', id).execute();
}

/** Also deletes sessions and refresh tokens. */
export async function deleteUser(tx: Db, orgId: string, id: string): Promise<void> {
  await tx.deleteFrom('users').where('org_id', '=', orgId).where('id', '=', id).execute();
}

export async function countActiveOwners(tx: Db, orgId: string): Promise<number> {
  const row = await tx
    .selectFrom('users')
    .select((eb) => eb.fn.countAll<number>().as('owners'))
    .where('org_id', '=', orgId)
    .where('role', '=', 'owner')
    .where('status', '=', 'active')
    .executeTakeFirstOrThrow();
  return row.owners;
}
