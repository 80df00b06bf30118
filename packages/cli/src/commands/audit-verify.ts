import { verifyAudit } from '@firsthand/server/stores/config/audit-logs.ts';
import { listKeyedOrganisations } from '@firsthand/server/stores/config/organisations.ts';
import { CommandError } from '../failure.ts';
import { print, withInstallation } from '../installation.ts';
import { readOptions } from '../options.ts';

export async function auditVerify(args: string[]): Promise<void> {
  const { org } = readOptions(args, { required: [], optional: ['org'] });
  await withInstallation(async ({ db, cipher }) => {
    const all = (await listKeyedOrganisations(db)).map(({ id }) => id);
    if (org !== undefined && !all.includes(org)) throw new CommandError(`There is no organisation ${org}.`);
    const broken: string[] = [];
    for (const org_id of org === undefined ? all : [org]) {
      const verdict = await verifyAudit(db, cipher, org_id);
      print({ org_id, ...verdict });
      if (!verdict.valid) broken.push(org_id);
    }
    if (broken.length > 0) throw new CommandError(`The audit chain is broken: ${broken.join(', ')}`);
  });
}
