import type { HealthStatus } from '../../channels.ts';
import { errorText } from '../../runtime/error-text.ts';
import type { Mode } from './plan.ts';

/** How an integration fares: its last success, its last error, and the status that follows. */
export class Health {
  successAt: number | undefined;
  error: { at: number; reason: string } | undefined;

  /** Call with the end of each request and its last failure. */
  note(at: number, failure: string | undefined): void {
    if (failure === undefined) this.successAt = at;
    else this.error = { at, reason: failure };
  }
  /** `startError`: why events cannot be read. `heldUntil`: when the daily limit resets. `reason`: why it cannot run at all. */
  status(mode: Mode, startError: unknown, heldUntil: number | undefined): { status: HealthStatus; until?: number; reason?: string } {
    if (mode.kind === 'wait') return { status: 'misconfigured' };
    if (startError !== undefined) return { status: 'failing', reason: `its events cannot be read: ${errorText(startError)}` };
    if (heldUntil !== undefined) return { status: 'paused', until: heldUntil };
    return { status: this.error && this.error.at > (this.successAt ?? 0) ? 'failing' : 'ok' };
  }
}
