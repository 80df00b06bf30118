import type { Settings } from './config.ts';
import type { EnsuredOwner } from './roles/admin/create-organisation.ts';

/** The lines printed when the service is ready: its addresses, and the first owner's password, which is shown only this once. */
export function greeting(
  settings: Pick<Settings, 'roles'>,
  addresses: { main: string; ingest: string | undefined },
  owner: EnsuredOwner,
): string[] {
  const lines = ['', 'Firsthand is ready.', ''];
  if (settings.roles.has('admin')) {
    lines.push(`  Console and API    ${addresses.main}/`);
    lines.push(`  API documentation  ${addresses.main}/docs`);
  }
  if (settings.roles.has('ingest')) lines.push(`  Collection         ${addresses.ingest ?? addresses.main}/v1/t`);
  lines.push(`  Health             ${addresses.main}/readyz`);
  if (owner.created) {
    lines.push('', `  First owner        ${owner.email}`);
    if (owner.generated_password !== undefined) lines.push(`  Password           ${owner.generated_password}   (shown this once)`);
  }
  return [...lines, ''];
}
