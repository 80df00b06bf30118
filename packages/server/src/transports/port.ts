import type { VendorReply, Verdict } from '@firsthand/core/vendor/compiled.ts';

/** The result of one attempt at one batch. */
export interface Sent {
  verdict: Verdict;
  status: number | null;
  /** When the attempt began, milliseconds since 1970. */
  at: number;
  duration_ms: number;
  /** The request could not be built. In a batch it is unknown which item is the cause. */
  unbuildable?: true;
  /** HTTP only. */
  reply?: VendorReply;
}
