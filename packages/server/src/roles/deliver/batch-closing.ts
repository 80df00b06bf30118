/** The verdict that closes a sealed batch, and the settlement of each member that follows from it after a crash. Pure. */
import { isoTime } from '@firsthand/core/iso-time.ts';
import type { Verdict } from '@firsthand/core/vendor/compiled.ts';
import type { Sent } from '../../transports/port.ts';
import type { Conclusion } from './conclude.ts';
import type { Part } from './job.ts';
import { readRetryState } from './retry-state.ts';
import type { HeldEvent, Settlement } from './settlement.ts';

type FinalVerdict = Extract<Verdict, { kind: 'delivered' | 'refused' }>;
/** `left`: the member left the batch, and is sent alone or with others. */
type MemberVerdict = FinalVerdict | { kind: 'left' };
/** One for all members, or one each in their order. */
export type ClosingVerdict = MemberVerdict | MemberVerdict[];
type Retried = Extract<Settlement, { kind: 'retry' | 'accepted' }>;
export interface Closing {
  verdict: ClosingVerdict;
  /** Set where every member that left is tried again or polled: the settlement of the first one. */
  retried?: Retried;
  at: number;
  duration_ms: number;
  status?: number | null;
}

/** What became of each part. */
export function closingOf(parts: readonly Part[], settled: Conclusion['settled'], { at, duration_ms, status }: Sent): Closing {
  const again = settled.flatMap(({ settlement }) => (settlement.kind === 'retry' || settlement.kind === 'accepted' ? [settlement] : []));
  const verdict = closingVerdict(parts, settled);
  const left = Array.isArray(verdict) ? verdict.filter(({ kind }) => kind === 'left').length : verdict.kind === 'left' ? parts.length : 0;
  const [retried] = again;
  return { verdict, at, duration_ms, status, ...(retried && left === again.length && { retried }) };
}
function closingVerdict(parts: readonly Part[], settled: Conclusion['settled']): ClosingVerdict {
  if (settled.length === parts.length && settled.every(({ settlement }) => settlement.kind === 'delivered')) return { kind: 'delivered' };
  const settlements = new Map(settled.map(({ job, settlement }) => [job, settlement]));
  const verdicts = parts.map(({ job }): MemberVerdict => {
    const settlement = settlements.get(job);
    if (settlement?.kind === 'delivered') return { kind: 'delivered' };
    return settlement?.kind === 'dead_letter' ? { kind: 'refused', reason: settlement.reason } : { kind: 'left' };
  });
  const [first] = verdicts;
  const same = first !== undefined && first.kind !== 'refused' && verdicts.every(({ kind }) => kind === first.kind);
  return same ? first : verdicts;
}

/** The settlement of each member of a closed batch, by key. None for a member that left the batch and is not tried again. */
export function closedSettlements(keys: readonly string[], closed: Closing): Map<string, Settlement> {
  const settlements = new Map<string, Settlement>();
  let place = 0;
  for (const [index, key] of keys.entries()) {
    const own = Array.isArray(closed.verdict) ? closed.verdict[index] : closed.verdict;
    const retried = own?.kind === 'left' ? closed.retried : undefined;
    if (own !== undefined && own.kind !== 'left') settlements.set(key, settlementOf(own, closed));
    else if (retried) settlements.set(key, inPlace(retried, place++));
  }
  return settlements;
}
function settlementOf(verdict: FinalVerdict, { at, duration_ms, status = null }: Closing): Settlement {
  const error = verdict.kind === 'refused' ? verdict.reason : null;
  const attempt = { at: isoTime(at), status, error, duration_ms };
  return verdict.kind === 'delivered'
    ? { kind: 'delivered', attempt }
    : { kind: 'dead_letter', stage: 'delivery', reason: verdict.reason, attempts: [attempt] };
}

/** Members that are tried again form a batch of their own: see `placeRetries`. */
function inPlace(settlement: Retried, index: number): Settlement {
  const { batch } = settlement.state;
  return batch ? { ...settlement, state: { ...settlement.state, batch: { ...batch, index } } } : settlement;
}
/** Whether the attempt that ended in this settlement is part of the event's history already. */
export function isStored({ delivery }: HeldEvent, settlement: Settlement): boolean {
  return 'state' in settlement && (readRetryState(delivery.state)?.attempts.length ?? 0) >= settlement.state.attempts.length;
}
export function withHistory({ delivery }: HeldEvent, settlement: Settlement): Settlement {
  if (settlement.kind !== 'dead_letter') return settlement;
  return { ...settlement, attempts: [...(readRetryState(delivery.state)?.attempts ?? []), ...settlement.attempts] };
}
