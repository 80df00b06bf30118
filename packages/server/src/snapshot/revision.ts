import type { Integration } from '@firsthand/core/config/resources.ts';
import type { Cipher } from '../secrets/cipher.ts';
import { organisationKey } from '../stores/config/organisations.ts';
import { readParameters } from '../stores/config/pipeline-parameters.ts';
import { openConfig } from '../stores/config/revision-configs.ts';
import { findRevision } from '../stores/config/revisions.ts';
import type { Db } from '../stores/config/schema.ts';
import { type CompileSettings, compileIntegration } from './compile-integration.ts';
import { prepareConfiguration } from './prepare.ts';
import type { CompiledIntegration } from './types.ts';

/** The integration with another revision of its template, for replays through a revision that is not pinned. */
export async function loadRevision(
  deps: { db: Db; cipher: Cipher; settings: CompileSettings },
  integration: Integration,
  revisionNumber: number,
): Promise<CompiledIntegration | undefined> {
  const { db, cipher, settings } = deps;
  const { org_id, template_id, pipeline_id } = integration;
  const [revision, opened] = await Promise.all([
    findRevision(db, org_id, template_id, revisionNumber),
    readParameters(db, cipher, org_id, pipeline_id),
  ]);
  if (!revision || !opened) return undefined;
  const config = openConfig(cipher, await organisationKey(db, org_id), revision);
  const row = { ...integration, revision_number: revisionNumber, delivery_mode: revision.delivery_mode, config };
  const { excess } = await prepareConfiguration(config);
  return compileIntegration(row, opened, settings, () => undefined, excess?.message);
}
