import type { ChangeSignal } from './change-signal.ts';
import type { HeldEvents } from './held-events.ts';
import type { Lane } from './lanes.ts';
import type { Mode, Plan } from './plan.ts';
import type { ReplayRevisions } from './replay-revisions.ts';
import type { SealedBatches } from './sealed-batches.ts';
import type { SettlementWriter } from './settlement-writer.ts';
import type { WorkerLife } from './worker-state.ts';

/** What the stages of one worker share. The worker sets lane, plan and mode; the stages get a `Readonly` one. */
export interface WorkerContext {
  /** The integration's. It has a worker per lane. */
  readonly id: string;
  lane: Lane;
  plan: Plan;
  mode: Mode;
  readonly life: WorkerLife;
  readonly held: HeldEvents;
  readonly revisions: ReplayRevisions;
  readonly sealed: SealedBatches;
  readonly writer: SettlementWriter;
  /** Notified when room in the window, the mode, the life or the number of requests in flight may have changed. */
  readonly signal: ChangeSignal;
}
