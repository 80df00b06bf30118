/**
 * Parameters of a pipeline in the store. The column `parameters` holds the masks of secret ones, so every ordinary reader sees masks;
 * `parameter_secrets` holds their values, sealed. Only `openParameters` brings the two together.
 */
import type { JsonObject } from '@firsthand/core/json.ts';
import { isSecretParameter } from '@firsthand/core/vendor/secrets.ts';
import type { Cipher, KeyedOrganisation } from '../../secrets/cipher.ts';
import { isMask, joinSecrets, maskSecrets, maskValue, type SecretAt, splitSecrets } from '../../secrets/mask.ts';
import { listKeyedOrganisations, organisationKey } from './organisations.ts';
import type { Db, PipelineRow } from './schema.ts';
import { storedJson } from './stored-json.ts';

export type Parameters = Record<string, string>;
/** Parameters with their real values. */
export interface OpenParameters {
  parameters: Parameters;
  /**
   * The names whose values are stored sealed. An earlier rule called more names secret: what it sealed stays sealed and masked until the
   * value is written again.
   */
  sealed: readonly string[];
}

/** The names of the secret ones: secret by name, or one of `names`. */
export function secretParameters(parameters: Parameters, names: readonly string[]): string[] {
  return Object.keys(parameters).filter((name) => isSecretParameter(name) || names.includes(name));
}

/** Stored instead of sealed values if a pipeline has no secret parameter. */
const NO_SECRETS = '';

export function sealParameters(
  cipher: Cipher,
  org: KeyedOrganisation,
  parameters: Parameters,
  /** Names to seal whatever the rule says: their masks were sent back. */
  kept: readonly string[] = [],
): { parameters: Parameters; parameter_secrets: string } {
  const places = secretParameters(parameters, kept).map((name) => [name]);
  const { secrets } = splitSecrets(parameters, places);
  return {
    parameters: maskSecrets(parameters, places) as Parameters,
    parameter_secrets: secrets.length === 0 ? NO_SECRETS : cipher.sealText(org, JSON.stringify(secrets)),
  };
}

/** Throws if the values were sealed under another key. */
export function openParameters(
  cipher: Cipher,
  org: KeyedOrganisation,
  parameters: Parameters,
  { parameter_secrets: sealed }: Pick<PipelineRow, 'parameter_secrets'>,
): OpenParameters {
  if (sealed === null || sealed === NO_SECRETS) return { parameters, sealed: [] };
  const secrets = JSON.parse(cipher.openText(org, sealed)) as SecretAt[];
  return { parameters: joinSecrets(parameters as JsonObject, secrets) as Parameters, sealed: secrets.map(({ path }) => String(path[0])) };
}

/** For rows that `sealStoredParameters` has not reached, and for names that an earlier rule did not call secret: they must not be shown either. */
export function maskUnsealed(parameters: Parameters): Parameters {
  return maskPlain(parameters) as Parameters;
}

/** The real values. Undefined if there is no such pipeline; without the secrets if their key is lost. */
export async function readParameters(db: Db, cipher: Cipher, orgId: string, pipelineId: string): Promise<OpenParameters | undefined> {
  const row = await db
    .selectFrom('pipelines')
    .select(['parameters', 'parameter_secrets'])
    .where('org_id', '=', orgId)
    .where('id', '=', pipelineId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const parameters = storedJson<Parameters>(row.parameters, {});
  try {
    return openParameters(cipher, await organisationKey(db, orgId), parameters, row);
  } catch {
    const sealed = Object.keys(parameters).filter((name) => isSecretParameter(name) || isMask(parameters[name] ?? ''));
    return { parameters: Object.fromEntries(Object.entries(parameters).filter(([name]) => !sealed.includes(name))), sealed };
  }
}

/** Seals the parameters of rows from before version 10 of the schema. Finds nothing at later starts. */
export async function sealStoredParameters(db: Db, cipher: Cipher): Promise<void> {
  const rows = await db.selectFrom('pipelines').select(['id', 'org_id', 'parameters']).where('parameter_secrets', 'is', null).execute();
  if (rows.length === 0) return;
  const keys = new Map((await listKeyedOrganisations(db)).map((org) => [org.id, org]));
  for (const { id, org_id, parameters } of rows) {
    const key = keys.get(org_id);
    if (key === undefined) continue;
    const readable = storedJson<Parameters | undefined>(parameters, undefined);
    // A damaged column stays as it is: the snapshot reports it.
    const sealed = readable === undefined ? { parameter_secrets: NO_SECRETS } : sealedColumns(cipher, key, readable);
    await db.updateTable('pipelines').set(sealed).where('id', '=', id).where('parameter_secrets', 'is', null).execute();
  }
}
function sealedColumns(cipher: Cipher, org: KeyedOrganisation, readable: Parameters) {
  const { parameters, parameter_secrets } = sealParameters(cipher, org, readable);
  return { parameters: JSON.stringify(parameters), parameter_secrets };
}

/** Audit entries of earlier versions hold parameters as they were sent, and entries are immutable: masks them for the reader. */
export function maskAuditedParameters(changes: JsonObject): JsonObject {
  const { parameters } = changes;
  if (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters)) return changes;
  const masked = Object.entries(parameters).map(([side, values]) => [side, isRecord(values) ? maskPlain(values) : values]);
  return { ...changes, parameters: Object.fromEntries(masked) as JsonObject };
}
function isRecord(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
function maskPlain(values: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' && isSecretParameter(name) && !isMask(value) ? maskValue(value) : value,
    ]),
  );
}
