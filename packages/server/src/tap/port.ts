export const TAP_STAGES = [
  'received',
  'rejected',
  'processed',
  'dropped',
  'delivered',
  'accepted_by_vendor',
  'retrying',
  'dead_lettered',
  'webhook_rejected',
] as const;
/** Frames for the live debugger. Build one only when `watched` reports a watcher of that organisation. */
export interface TapFrame {
  stage: (typeof TAP_STAGES)[number];
  pipeline_id?: string;
  integration_id?: string;
  event_id?: string;
  type?: string;
  /** `screen` or `alias`, where the event came as one. */
  original_type?: string;
  event?: string;
  reason?: string;
  duration_ms?: number;
  status?: number;
  payload?: unknown;
}
export interface Tap {
  watched(orgId: string): boolean;
  emit(orgId: string, frame: TapFrame): void;
}
