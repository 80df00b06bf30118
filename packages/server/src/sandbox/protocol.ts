/** Messages between the pool and its workers. Events are JSON text, so that only text crosses into user code. */
export interface SandboxLimits {
  memory_bytes: number;
  soft_ms: number;
  hard_ms: number;
}
export const DEFAULT_LIMITS: SandboxLimits = { memory_bytes: 32 * 1024 * 1024, soft_ms: 50, hard_ms: 250 };

/**
 * A run that exceeds its time but used less CPU than this fraction of its soft limit was starved by an overloaded machine: it continues.
 */
export const AT_WORK_PART = 0.4;

export interface RunMessage {
  /** Only events with the same key and code text share code and globals. */
  key: string;
  code: string;
  parameters: string;
  /** Run in a new context that is discarded afterwards: tests and validation. */
  fresh: boolean;
  /** Only load the code and report its faults. */
  load_only: boolean;
  events: string[];
}
export interface RunResult {
  /** The returned value as JSON text. */
  value?: string;
  error?: string;
  /** Stopped because of time or memory. */
  ended?: true;
  /** CPU time of the run. Absent where the worker did not finish it. */
  cpu_ms?: number;
  logs?: string[];
}
export type WorkerReply =
  | { type: 'ready' }
  /** Results in the order of the events. A slow message is answered in parts; after `LEAVE_REST` the last events have no result. */
  | { type: 'results'; results: RunResult[]; last: boolean };
export interface WorkerStart {
  limits: SandboxLimits;
  shared: SharedArrayBuffer;
  /** Compiled code, shared by all workers. */
  engine: WebAssembly.Module;
}

/** Indexes into the memory shared by pool and worker. */
export const RUNNING = 0; // index of the running event of the message, from 1; 0 for none
export const LEAVE_REST = 1; // set by the pool: run no further event of this message
export const SHARED_SLOTS = 2;
