/**
 * Rejects a write that would make an organisation's configuration exceed its budget. The snapshot holds the costs of all documents; those
 * written since, by this process or another, are measured in the transaction of the write. No other write runs meanwhile, so none is
 * missed. What was deleted since still counts until the snapshot is loaded again.
 */
import { addCost, CONFIGURATION_BUDGET, measureInSteps, NO_COST, organisationExcess, pieceCost } from '@firsthand/core/config/budget.ts';
import { invalidFields } from '../../http/errors.ts';
import { finishInTurns } from '../../runtime/turns.ts';
import type { Cipher } from '../../secrets/cipher.ts';
import type { SnapshotSource } from '../../snapshot/types.ts';
import { changedDocuments } from '../../stores/config/changed-documents.ts';
import type { Db } from '../../stores/config/schema.ts';

export type CheckBudget = (tx: Db, orgId: string, rowVersion: number) => Promise<void>;

export function createBudgetCheck(snapshots: Pick<SnapshotSource, 'current'>, cipher: Cipher): CheckBudget {
  return async (tx, orgId, rowVersion) => {
    const { version, costs } = snapshots.current();
    const before = costs.organisations.get(orgId) ?? NO_COST;
    // A write adds less than two documents: one within its own budget, and an event filter beside it.
    if (organisationExcess(addCost(before, CONFIGURATION_BUDGET, 2 * (rowVersion - version))) === undefined) return;
    let after = before;
    for await (const { id, document, beside } of changedDocuments(tx, cipher, orgId, version)) {
      after = addCost(after, costs.pieces.get(id) ?? NO_COST, -1);
      after = addCost(after, pieceCost((await finishInTurns(measureInSteps(document))).cost, beside));
    }
    const excess = organisationExcess(after, before);
    if (excess !== undefined) throw invalidFields([{ field: '', message: excess.message }]);
  };
}
