import { createOrganisation } from '@firsthand/server/roles/admin/create-organisation.ts';
import { isUniqueViolation } from '@firsthand/server/stores/config/availability.ts';
import { CommandError } from '../failure.ts';
import { type Installation, print, withInstallation } from '../installation.ts';
import { readOptions, requireEmail, requirePassword } from '../options.ts';

export async function orgCreate(args: string[]): Promise<void> {
  const options = readOptions(args, { required: ['name', 'owner-email', 'owner-password'] });
  const input = {
    name: options.name.trim().slice(0, 200),
    owner_email: requireEmail('--owner-email', options['owner-email']),
    owner_password: requirePassword('--owner-password', options['owner-password']),
  };
  const create = async (installation: Installation) => {
    try {
      print(await createOrganisation(installation, input));
    } catch (error) {
      if (isUniqueViolation(error)) throw new CommandError(`${input.owner_email} is in use already.`);
      throw error;
    }
  };
  await withInstallation(create, { orNew: true });
}
