import { normaliseEmail } from '@firsthand/server/roles/admin/auth/email.ts';
import { generatePassword, hashPassword } from '@firsthand/server/roles/admin/auth/passwords.ts';
import { createWrite } from '@firsthand/server/roles/admin/write.ts';
import { unlockAddress } from '@firsthand/server/stores/config/login-attempts.ts';
import { revokeTokens } from '@firsthand/server/stores/config/sessions.ts';
import { disableTotp } from '@firsthand/server/stores/config/totp.ts';
import { allowLocalLogin, findLogin, updateUser } from '@firsthand/server/stores/config/users.ts';
import { CommandError } from '../failure.ts';
import { print, withInstallation } from '../installation.ts';
import { readOptions, requireEmail, requirePassword } from '../options.ts';

/** With LOCAL_LOGIN=false, the new password works for this long. This restores access when the identity provider fails. */
const LOCAL_LOGIN_MS = 3_600_000;

/** Sets the password, ends every session and unlocks the address, in one write with its audit entry. */
export async function resetPassword(args: string[]): Promise<void> {
  const options = readOptions(args, { required: ['email'], optional: ['password'], flags: ['disable-totp'] });
  const email = normaliseEmail(requireEmail('--email', options.email));
  const given = options.password === undefined ? undefined : requirePassword('--password', options.password);
  const generated = given === undefined ? generatePassword() : undefined;
  const password_hash = await hashPassword(given ?? generated ?? '', 'command line');
  await withInstallation(async ({ db, cipher, clock }) => {
    const user = await findLogin(db, email);
    if (user === undefined) throw new CommandError(`No user has the address ${email}.`);
    const write = createWrite({ db, cipher, clock, logger: { warn: () => {} }, configChanged: async () => {} });
    const author = { id: null, email: null, org_id: user.org_id, ip: null, user_agent: 'firsthand command line' };
    await write(author, 'user.password_reset', async (tx, change) => {
      await updateUser(tx, user.org_id, user.id, { password_hash }, change.stamp.now);
      await revokeTokens(tx, user.id);
      await allowLocalLogin(tx, user.id, new Date(clock.now() + LOCAL_LOGIN_MS).toISOString());
      if (options['disable-totp']) await disableTotp(tx, user.id);
      await unlockAddress(tx, email);
      change.audit({ id: user.id });
    });
    print({ user_id: user.id, email, ...(generated === undefined ? {} : { password: generated }) });
  });
}
