import type { Clock } from '../../runtime/clock.ts';
import { newId } from '../../runtime/ids.ts';
import type { Cipher } from '../../secrets/cipher.ts';
import { appendAudit } from '../../stores/config/audit-logs.ts';
import { insertOrganisation } from '../../stores/config/organisations.ts';
import type { Db } from '../../stores/config/schema.ts';
import { insertUser } from '../../stores/config/users.ts';
import { nextConfigVersion } from '../../stores/config/version.ts';
import { normaliseEmail } from './auth/email.ts';
import { generatePassword, hashPassword } from './auth/passwords.ts';
import { differences } from './write.ts';

interface Deps {
  db: Db;
  cipher: Cipher;
  clock: Clock;
}
export interface NewOrganisation {
  name: string;
  owner_email: string;
  owner_password: string;
}

/** Creates an organisation, its first owner and the first entry of its audit chain. Throws a unique violation if the e-mail address is in use. */
export async function createOrganisation(deps: Deps, input: NewOrganisation): Promise<{ org_id: string; user_id: string }> {
  const password_hash = await hashPassword(input.owner_password, 'installation');
  return await deps.db.transaction().execute((tx) => insertWithOwner(tx, deps, input, password_hash));
}

export type EnsuredOwner =
  | { created: false }
  | { created: true; org_id: string; user_id: string; email: string; generated_password: string | undefined };

/**
 * Creates the organisation and its owner on the first start. Processes that start together are serialised by the config version: the
 * first creates them, the others find them. The generated password is stored nowhere; it is only in the returned value.
 */
export async function ensureOwner(deps: Deps, owner: { email: string; password: string | undefined }): Promise<EnsuredOwner> {
  if (await hasOrganisation(deps.db)) return { created: false };
  const password = owner.password ?? generatePassword();
  const password_hash = await hashPassword(password, 'installation');
  return await deps.db.transaction().execute(async (tx): Promise<EnsuredOwner> => {
    const version = await nextConfigVersion(tx);
    if (await hasOrganisation(tx)) return { created: false };
    const input = { name: 'My organisation', owner_email: owner.email };
    const ids = await insertWithOwner(tx, deps, input, password_hash, version);
    return {
      created: true,
      ...ids,
      email: normaliseEmail(owner.email),
      generated_password: owner.password === undefined ? password : undefined,
    };
  });
}

async function hasOrganisation(db: Db): Promise<boolean> {
  return (await db.selectFrom('organisations').select('id').limit(1).executeTakeFirst()) !== undefined;
}

async function insertWithOwner(
  tx: Db,
  { cipher, clock }: Deps,
  input: Pick<NewOrganisation, 'name' | 'owner_email'>,
  password_hash: string,
  version?: number,
): Promise<{ org_id: string; user_id: string }> {
  const now = clock.now();
  const org_id = newId('org', now);
  const user_id = newId('usr', now);
  const email = normaliseEmail(input.owner_email);
  const stamp = { row_version: version ?? (await nextConfigVersion(tx)), now: new Date(now).toISOString() };
  await insertOrganisation(tx, { id: org_id, name: input.name, data_key: cipher.newDataKey(org_id) }, stamp);
  await insertUser(tx, { id: user_id, org_id, email, name: '', role: 'owner', status: 'active', created_at: stamp.now, password_hash });
  const author = { user_id: null, user_email: null, ip_address: null, user_agent: null };
  const changes = differences({}, { name: input.name, owner: email });
  await appendAudit(
    tx,
    cipher,
    { ...author, org_id, action: 'organisation.created', resource_type: 'organisation', resource_id: org_id, changes },
    now,
  );
  return { org_id, user_id };
}
