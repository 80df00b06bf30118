/**
 * Rejects a write that would make an organisation's configuration exceed its budget. The snapshot holds the costs; it enforces the budget
 * too, for writes that another process made at the same moment.
 */
import { addCost, CONFIGURATION_BUDGET, measureConfiguration, NO_COST, organisationExcess } from '@firsthand/core/config/budget.ts';
import { invalidFields } from '../../http/errors.ts';
import { turns } from '../../runtime/turns.ts';
import type { SnapshotSource } from '../../snapshot/types.ts';
import { changedDocuments } from '../../stores/config/changed-documents.ts';
import type { Db } from '../../stores/config/schema.ts';

export type CheckBudget = (tx: Db, orgId: string, rowVersion: number) => Promise<void>;

export function createBudgetCheck(snapshots: Pick<SnapshotSource, 'current'>): CheckBudget {
  return async (tx, orgId, rowVersion) => {
    const { organisations, pieces } = snapshots.current().costs;
    const before = organisations.get(orgId) ?? NO_COST;
    // A write adds one document at most, and no document exceeds its own budget.
    if (organisationExcess(addCost(before, CONFIGURATION_BUDGET)) === undefined) return;
    let after = before;
    for (const { id, document } of await changedDocuments(tx, orgId, rowVersion)) {
      const turn = turns.bulk();
      if (turn !== undefined) await turn;
      const measured = measureConfiguration(document);
      after = addCost(after, pieces.get(id) ?? NO_COST, -1);
      if (measured.ok) after = addCost(after, measured.cost);
    }
    const excess = organisationExcess(after);
    // An organisation above the budget may still reduce its configuration.
    if (excess !== undefined && after[excess.part] > before[excess.part]) throw invalidFields([{ field: '', message: excess.message }]);
  };
}
