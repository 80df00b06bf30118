import { randomBytes } from 'node:crypto';
import { normaliseEmail } from '@firsthand/server/roles/admin/auth/email.ts';
import { hashPassword } from '@firsthand/server/roles/admin/auth/passwords.ts';
import { createWrite } from '@firsthand/server/roles/admin/write.ts';
import { attemptKey, unlockAddress } from '@firsthand/server/stores/config/login-attempts.ts';
import { revokeTokens } from '@firsthand/server/stores/config/sessions.ts';
import { findLogin, updateUser } from '@firsthand/server/stores/config/users.ts';
import { CommandError } from '../failure.ts';
import { print, withInstallation } from '../installation.ts';
import { readOptions, requireEmail, requirePassword } from '../options.ts';

/** A new password, every session ended, the address unlocked: one write, with its audit entry. */
export async function resetPassword(args: string[]): Promise<void> {
  const options = readOptions(args, { required: ['email'], optional: ['password'] });
  const email = normaliseEmail(requireEmail('--email', options.email));
  const generated = options.password === undefined ? randomBytes(18).toString('base64url') : undefined;
  const password_hash = await hashPassword(generated ?? requirePassword('--password', options.password!));
  await withInstallation(async ({ db, cipher, clock }) => {
    const user = await findLogin(db, email);
    if (user === undefined) throw new CommandError(`No user has the address ${email}.`);
    const write = createWrite({ db, cipher, clock, log: { warn: () => {} }, configChanged: async () => {} });
    const author = { id: null, email: null, org_id: user.org_id, ip: null, user_agent: 'firsthand command line' };
    await write(author, 'user.password_reset', async (tx, change) => {
      await updateUser(tx, user.org_id, user.id, { password_hash }, change.stamp.now);
      await revokeTokens(tx, user.id);
      await unlockAddress(tx, attemptKey('email', email));
      change.audit({ id: user.id });
    });
    print({ user_id: user.id, email, ...(generated === undefined ? {} : { password: generated }) });
  });
}
