import { countOf, type Page, type Paged, readPage } from './paging.ts';
import type { ApiTokenRow, Db, UserRole } from './schema.ts';
import type { SessionUser } from './sessions.ts';
import { storedJson } from './stored-json.ts';

export interface ApiToken {
  id: string;
  org_id: string;
  name: string;
  role: UserRole;
  /** Null means every pipeline of the organisation. */
  pipeline_ids: string[] | null;
  token_prefix: string;
  created_by: string;
  expires_at: string | null;
  last_used_at: string | null;
  created_at: string;
}
const SHOWN = [
  'id',
  'org_id',
  'name',
  'role',
  'pipeline_ids',
  'token_prefix',
  'user_id',
  'expires_at',
  'last_used_at',
  'created_at',
] as const;

function toApiToken({ user_id, pipeline_ids, ...row }: Pick<ApiTokenRow, (typeof SHOWN)[number]>): ApiToken {
  return { ...row, pipeline_ids: scopeOf(pipeline_ids), created_by: user_id };
}
/** An unreadable scope allows nothing. */
function scopeOf(stored: string | null): string[] | null {
  return stored === null ? null : storedJson<string[]>(stored, []);
}

export async function countApiTokens(db: Db, orgId: string): Promise<number> {
  return await countOf(db.selectFrom('api_tokens').where('org_id', '=', orgId));
}

/** With the address of the user who made each. */
export async function listApiTokens(db: Db, orgId: string, page: Page): Promise<Paged<ApiToken & { created_by_email: string }>> {
  const query = db.selectFrom('api_tokens').where('api_tokens.org_id', '=', orgId);
  const listed = query
    .innerJoin('users', 'users.id', 'api_tokens.user_id')
    .select(SHOWN.map((name) => `api_tokens.${name}` as const))
    .select('users.email as created_by_email')
    .orderBy('api_tokens.created_at', 'desc')
    .orderBy('api_tokens.id', 'desc');
  const { rows, total } = await readPage(listed, page, () => countOf(query));
  return { rows: rows.map(({ created_by_email, ...row }) => ({ ...toApiToken(row), created_by_email })), total };
}

export async function findApiToken(db: Db, orgId: string, id: string): Promise<ApiToken | undefined> {
  const row = await db.selectFrom('api_tokens').select(SHOWN).where('org_id', '=', orgId).where('id', '=', id).executeTakeFirst();
  return row && toApiToken(row);
}

export type NewApiToken = Omit<ApiToken, 'last_used_at'> & { token_hash: string };
export async function insertApiToken(tx: Db, { created_by, pipeline_ids, ...token }: NewApiToken): Promise<ApiToken> {
  const row = await tx
    .insertInto('api_tokens')
    .values({
      ...token,
      user_id: created_by,
      pipeline_ids: pipeline_ids === null ? null : JSON.stringify(pipeline_ids),
      last_used_at: null,
    })
    .returning(SHOWN)
    .executeTakeFirstOrThrow();
  return toApiToken(row);
}

export async function deleteApiToken(tx: Db, orgId: string, id: string): Promise<void> {
  await tx.deleteFrom('api_tokens').where('org_id', '=', orgId).where('id', '=', id).execute();
}

/** Revokes a user's tokens that allow more than the user's current role. */
export async function deleteApiTokensAbove(tx: Db, userId: string, allowed: readonly UserRole[]): Promise<void> {
  await tx
    .deleteFrom('api_tokens')
    .where('user_id', '=', userId)
    .where('role', 'not in', [...allowed])
    .execute();
}

export interface TokenUser extends SessionUser {
  token_id: string;
  token_role: UserRole;
  pipeline_ids: string[] | null;
  expires_at: string | null;
  last_used_at: string | null;
}
/**
 * The token and its creator, if the creator is still active. Queried on every request, so a revocation applies at once on every process.
 */
export async function findTokenUser(db: Db, tokenHash: string): Promise<TokenUser | undefined> {
  const row = await db
    .selectFrom('api_tokens')
    .innerJoin('users', 'users.id', 'api_tokens.user_id')
    .select(['users.id', 'users.org_id', 'users.email', 'users.role'])
    .select(['api_tokens.id as token_id', 'api_tokens.role as token_role'])
    .select(['api_tokens.pipeline_ids', 'api_tokens.expires_at', 'api_tokens.last_used_at'])
    .where('api_tokens.token_hash', '=', tokenHash)
    .where('users.status', '=', 'active')
    .executeTakeFirst();
  return row && { ...row, pipeline_ids: scopeOf(row.pipeline_ids) };
}

/** The given tokens whose creators are still active. */
export async function findTokenRoles(db: Db, ids: readonly string[]): Promise<{ id: string; token_role: UserRole; role: UserRole }[]> {
  const found = [];
  for (let start = 0; start < ids.length; start += MOST_IDS)
    found.push(
      ...(await db
        .selectFrom('api_tokens')
        .innerJoin('users', 'users.id', 'api_tokens.user_id')
        .select(['api_tokens.id', 'api_tokens.role as token_role', 'users.role'])
        .where('api_tokens.id', 'in', ids.slice(start, start + MOST_IDS))
        .where('users.status', '=', 'active')
        .execute()),
    );
  return found;
}
const MOST_IDS = 1_000;

export async function touchApiToken(db: Db, id: string, now: string): Promise<void> {
  await db.updateTable('api_tokens').set({ last_used_at: now }).where('id', '=', id).execute();
}
