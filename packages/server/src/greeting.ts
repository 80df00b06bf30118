import type { Settings } from './config.ts';
import type { EnsuredOwner } from './roles/admin/create-organisation.ts';

/**
 * The lines printed when the service is ready: its addresses, the public ones where they are set, and the first owner's password, which is
 * shown only this once.
 */
export function greeting(
  settings: Pick<Settings, 'roles' | 'baseUrl' | 'ingestUrl'>,
  addresses: { main: string; ingest: string | undefined },
  owner: EnsuredOwner,
): string[] {
  const lines = ['', 'Firsthand is ready.', ''];
  const main = settings.baseUrl ?? addresses.main;
  if (settings.roles.has('admin')) {
    lines.push(`  Console and API    ${main}/`);
    lines.push(`  API documentation  ${main}/docs`);
  }
  if (settings.roles.has('ingest')) lines.push(`  Collection         ${settings.ingestUrl ?? addresses.ingest ?? main}/v1/t`);
  lines.push(`  Health             ${addresses.main}/readyz`);
  if (owner.created) {
    lines.push('', `  First owner        ${owner.email}`);
    if (owner.generated_password !== undefined) lines.push(`  Password           ${owner.generated_password}   (shown this once)`);
  }
  return [...lines, ''];
}
