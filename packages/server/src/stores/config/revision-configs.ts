import type { JsonObject } from '@firsthand/core/json.ts';
import type { ConfigFault } from '@firsthand/core/vendor/compiled.ts';
import type { Cipher, KeyedOrganisation } from '../../secrets/cipher.ts';
import { joinSecrets, type SecretAt } from '../../secrets/mask.ts';
import { rowBytes } from './large-columns.ts';
import { RowReader } from './row-reader.ts';
import type { Db } from './schema.ts';
import { readSized } from './sized-rows.ts';

/** A revision's config with its secrets merged back in. */
export function openConfig(cipher: Cipher, org: KeyedOrganisation, stored: { config: string; secrets: string | null }): JsonObject {
  const open = JSON.parse(stored.config) as JsonObject;
  return stored.secrets === null ? open : joinSecrets(open, JSON.parse(cipher.openText(org, stored.secrets)) as SecretAt[]);
}

interface RevisionOfOrganisation {
  org_id: string;
  revision_id: string;
}
/**
 * Reads, decrypts and parses each revision once, however many integrations use it. They share the config as one object, which lets the
 * compiler recognise it. It is read-only.
 */
export class RevisionConfigs {
  readonly #tx: Db;
  readonly #cipher: Cipher;
  readonly #keyOf: (orgId: string) => KeyedOrganisation;
  readonly #read = new Map<string, { config: JsonObject; faults: readonly ConfigFault[] }>();

  constructor(tx: Db, cipher: Cipher, keyOf: (orgId: string) => KeyedOrganisation) {
    this.#tx = tx;
    this.#cipher = cipher;
    this.#keyOf = keyOf;
  }

  async load(rows: readonly RevisionOfOrganisation[]): Promise<void> {
    const unread = rows.filter((row) => !this.#read.has(keyOfRevision(row)));
    const wanted = Map.groupBy(unread, ({ revision_id }) => revision_id);
    const revisions = this.#tx.selectFrom('revisions');
    await readSized(this.#tx, [...wanted.keys()], {
      sizes: (ids) =>
        revisions
          .select(['id', rowBytes('revisions')])
          .where('id', 'in', ids)
          .execute(),
      rows: (ids) => revisions.select(['id', 'config', 'secrets']).where('id', 'in', ids).execute(),
      decode: (revision) => {
        for (const row of wanted.get(revision.id) ?? []) {
          if (this.#read.has(keyOfRevision(row))) continue;
          const reader = new RowReader();
          const config = reader.read('config', () => openConfig(this.#cipher, this.#keyOf(row.org_id), revision), {});
          this.#read.set(keyOfRevision(row), { config, faults: reader.faults });
        }
      },
    });
  }
  of(row: RevisionOfOrganisation): { config: JsonObject; faults: readonly ConfigFault[] } {
    const read = this.#read.get(keyOfRevision(row));
    if (read === undefined) throw new Error(`revision ${row.revision_id} was not read`);
    return read;
  }
}
/** The organisation's key opens the secrets, so it is part of the identity. */
const keyOfRevision = ({ org_id, revision_id }: RevisionOfOrganisation) => `${org_id} ${revision_id}`;
