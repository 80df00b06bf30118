/** What the pool and its workers say to each other. JSON text inside, so that nothing but text ever crosses into user code. */
export interface SandboxLimits {
  memory_bytes: number;
  soft_ms: number;
  hard_ms: number;
}
export const DEFAULT_LIMITS: SandboxLimits = { memory_bytes: 32 * 1024 * 1024, soft_ms: 50, hard_ms: 250 };

/** A run that is late on the clock but worked less than this part of its soft limit was held up by a crowded machine: it goes on. */
export const AT_WORK_PART = 0.4;

export interface RunMessage {
  /** Code and globals are shared by the events of one key and one code text, and by no others. */
  key: string;
  code: string;
  parameters: string;
  /** In a context of its own that is thrown away: tests and validation. */
  fresh: boolean;
  /** Only load the code and say what is wrong with it. */
  load_only: boolean;
  events: string[];
}
export interface RunResult {
  /** The JSON text of what the code returned. */
  value?: string;
  error?: string;
  /** Stopped for time or memory. */
  ended?: true;
  logs?: string[];
}
export type WorkerReply =
  | { type: 'ready' }
  /** As many results as events were run: fewer than asked for when told to leave the rest. */
  | { type: 'results'; results: RunResult[] };
export interface WorkerStart {
  limits: SandboxLimits;
  shared: SharedArrayBuffer;
  /** Compiled code, shared by all workers. */
  engine: WebAssembly.Module;
}

/** Slots of the memory that pool and worker share. */
export const RUNNING = 0; // which event of the message is under way, from 1
export const LEAVE_REST = 1; // set by the pool: run no further event of this message
export const SHARED_SLOTS = 2;
