/**
 * Isolates user code: QuickJS in worker threads, JSON in and out, limits that hold whatever the code does. No state survives from one
 * event to the next: built-in objects are frozen, and the code's own variables are new for each event.
 */
import { parseInSteps } from '@firsthand/core/parse-in-steps.ts';
import type { CodeCall, CodeResult } from '@firsthand/core/process/code.ts';
import type { ConfigFault } from '@firsthand/core/vendor/compiled.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { finishInTurns, turns, VERY_LARGE_BYTES } from '../runtime/turns.ts';
import { Pool, type PoolJob } from './pool.ts';
import { DEFAULT_LIMITS, type RunResult, type SandboxLimits } from './protocol.ts';
import { SUSPENDED, Suspensions } from './suspension.ts';

export interface Sandbox {
  /** Never rejects. */
  run(call: CodeCall): Promise<CodeResult>;
  /** Runs once in a new context. Ignores suspensions and causes none. */
  runFresh(code: string, event: unknown, parameters: Record<string, string>, line: string): Promise<CodeResult>;
  /** Loads the code and reports faults with line numbers. Organisations take turns. */
  validateCode(code: string, organisation: string): Promise<ConfigFault[]>;
  /** Stop the callers of `run` first: waiting jobs resolve as failed. */
  stop(): Promise<void>;
  readonly workers: number;
}
export interface SandboxOptions {
  workers?: number;
  limits?: Partial<SandboxLimits>;
  clock?: Pick<Clock, 'monotonic'>;
  logger?: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
}

/** Workers start with the first run and stop after an idle minute. */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const clock = options.clock ?? systemClock;
  const suspensions = new Suspensions(clock);
  const pool = new Pool({
    workers: options.workers ?? 2,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    clock,
    onFault: (message) => options.logger?.error({}, message),
  });

  type Submitted = Omit<PoolJob, 'settle' | 'settled' | 'refused'>;
  function submit(job: Submitted, refused: PoolJob['refused'] = () => undefined): Promise<RunResult> {
    return new Promise((resolve) => pool.submit({ ...job, refused, settled: false, settle: resolve }));
  }

  /**
   * For callers whose answer is final, such as a 422. On a starved machine the time limit can hit innocent code, so a run that was ended
   * is tried once more: only code that is ended twice is at fault.
   */
  async function submitTwice(job: Submitted): Promise<RunResult> {
    const first = await submit(job);
    return first.ended ? submit(job) : first;
  }

  return {
    async run({ code: { owner, code }, org_id, pipeline_id, event, parameters }) {
      if (suspensions.isSuspended(owner)) return { kind: 'failed', reason: SUSPENDED, logs: [] };
      const job: Submitted = {
        org: org_id,
        line: pipeline_id,
        key: `${owner}/${pipeline_id}`,
        code,
        parameters: JSON.stringify(parameters),
        fresh: false,
        load_only: false,
        event: JSON.stringify(event),
      };
      const result = await submit(job, () => (suspensions.isSuspended(owner) ? { error: SUSPENDED } : undefined));
      if (result.ended && suspensions.noteEnded(owner)) options.logger?.warn({ owner, pipeline_id }, `user code ${SUSPENDED}`);
      return await toCodeResult(result);
    },
    async runFresh(code, event, parameters, line) {
      return await toCodeResult(
        await submitTwice({
          org: `fresh/${line}`,
          line: `fresh/${line}`,
          key: 'fresh',
          code,
          parameters: JSON.stringify(parameters),
          fresh: true,
          load_only: false,
          event: JSON.stringify(event),
        }),
      );
    },
    async validateCode(code, organisation) {
      const line = `fresh/${organisation}`;
      const job = { org: line, line, key: 'validate', code, parameters: '{}', fresh: true, load_only: true, event: '' };
      const { error } = await submitTwice(job);
      return error === undefined ? [] : [{ field: 'code', message: error }];
    },
    stop: () => pool.stop(),
    get workers() {
      return pool.workers;
    },
  };
}

async function toCodeResult({ value: text, error, logs = [] }: RunResult): Promise<CodeResult> {
  if (text === undefined) return { kind: 'failed', reason: error ?? 'the code gave no result', logs };
  if (text.length <= VERY_LARGE_BYTES) return { kind: 'returned', value: JSON.parse(text), logs };
  // One reply of a worker holds many events.
  await turns.bulk();
  const value = await finishInTurns(parseInSteps(text));
  return { kind: 'returned', value, logs };
}
