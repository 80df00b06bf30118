/**
 * One QuickJS runtime with loaded user code, in its own engine, inside a worker thread. Events share no state: the built-in objects are
 * frozen, and the code's own top level runs again for each event.
 */
import { MAX_NODES, scanJson, TOO_MANY } from '@firsthand/core/event/scan-json.ts';
import type { QuickJSContext, QuickJSHandle, QuickJSWASMModule } from 'quickjs-emscripten';
import { asFunction, BOOTSTRAP } from './bootstrap.ts';
import { AT_WORK_PART, type RunResult, type SandboxLimits } from './protocol.ts';

const MAX_STACK_BYTES = 256 * 1024;
/** The largest event that ingest accepts, plus room for additions by a transformation. */
const MAX_RESULT_CHARS = 4 * 1024 * 1024;

/**
 * A run longer than `after_ms` pauses for `pause_ms` every `every_ms`. The pause gives the core to a waiting thread; some schedulers would
 * preempt only at a tick. The gain was not measured by itself.
 */
const POLITE = { after_ms: 3, every_ms: 1, pause_ms: 0.1 };
const asleep = new Int32Array(new SharedArrayBuffer(4));

/** The limit of ingest. Found in this thread: reading a million empty lists would hold the event loop of the main thread. */
function hasTooManyValues(json: string): boolean {
  return json.length > 2 * MAX_NODES && scanJson(Buffer.from(json), Number.POSITIVE_INFINITY) === TOO_MANY;
}

export type Loaded = { ok: true; vm: Vm } | { ok: false; error: string; ended?: true };

export class Vm {
  readonly code: string;
  readonly #engine: QuickJSWASMModule;
  #parameters = '{}';
  readonly #context: QuickJSContext;
  readonly #host: Record<'harden' | 'load' | 'setParameters' | 'takeLogs' | 'hasLogs' | 'call', QuickJSHandle>;
  /** Runs the code's top level and returns its `transform`. */
  #make: QuickJSHandle;
  readonly #softMs: number;
  #deadline = 0;
  #nextPause = 0;
  #cpuAtStart = 0;
  #late = false;

  private constructor(engine: QuickJSWASMModule, code: string, limits: SandboxLimits) {
    this.code = code;
    this.#softMs = limits.soft_ms;
    this.#engine = engine;
    const runtime = engine.newRuntime();
    runtime.setMemoryLimit(limits.memory_bytes);
    runtime.setMaxStackSize(MAX_STACK_BYTES);
    runtime.setInterruptHandler(() => {
      const now = performance.now();
      if (now > this.#nextPause) {
        Atomics.wait(asleep, 0, 0, POLITE.pause_ms);
        this.#nextPause = performance.now() + POLITE.every_ms;
      }
      this.#late = now > this.#deadline && threadCpuMs() - this.#cpuAtStart > this.#softMs * AT_WORK_PART;
      return this.#late;
    });
    this.#context = runtime.newContext();
    // Our own work has no time limit: a slow machine must not fail the user's code. The pool's watchdog still ends a run that hangs.
    this.#start(Number.POSITIVE_INFINITY);
    const host = this.#context.unwrapResult(this.#context.evalCode(BOOTSTRAP, 'host.js'));
    this.#host = {
      harden: this.#context.getProp(host, 'harden'),
      load: this.#context.getProp(host, 'load'),
      setParameters: this.#context.getProp(host, 'setParameters'),
      takeLogs: this.#context.getProp(host, 'takeLogs'),
      hasLogs: this.#context.getProp(host, 'hasLogs'),
      call: this.#context.getProp(host, 'call'),
    };
    host.dispose();
    this.#context.unwrapResult(this.#context.callFunction(this.#host.harden, this.#context.undefined)).dispose();
    this.#make = this.#context.undefined;
  }

  static load(engine: QuickJSWASMModule, code: string, limits: SandboxLimits): Loaded {
    const vm = new Vm(engine, code, limits);
    const fault = vm.#loadCode();
    if (fault === undefined) return { ok: true, vm };
    return { ok: false, error: fault.error ?? 'the code cannot be loaded', ...(fault.ended && { ended: true }) };
  }

  #loadCode(): RunResult | undefined {
    this.#start();
    const context = this.#context;
    const program = context.evalCode(this.code, 'transform.js', { type: 'global', compileOnly: true });
    if (program.error) return this.#failure(program.error);
    program.value.dispose();
    const made = context.evalCode(asFunction(this.code), 'transform.js', { type: 'global' });
    if (made.error) return this.#failure(made.error);
    this.#make = made.value;
    this.#start(); // the code pays for its own top level, not for compiling
    const loaded = context.callFunction(this.#host.load, context.undefined, this.#make);
    if (loaded.error) return this.#failure(loaded.error);
    const found = context.dump(loaded.value) === true;
    loaded.value.dispose();
    return found ? undefined : { error: 'the code defines no function transform(event, { parameters })' };
  }

  run(event: string, parameters: string): RunResult {
    this.#start();
    const context = this.#context;
    if (parameters !== this.#parameters) {
      const json = context.newString(parameters);
      const set = context.callFunction(this.#host.setParameters, context.undefined, json);
      json.dispose();
      if (set.error) return this.#failure(set.error);
      set.value.dispose();
      this.#parameters = parameters;
    }
    const json = context.newString(event);
    const returned = context.callFunction(this.#host.call, context.undefined, this.#make, json);
    json.dispose();
    if (returned.error) return this.#withLogs(this.#failure(returned.error));
    const value = context.getString(returned.value);
    returned.value.dispose();
    if (value.length > MAX_RESULT_CHARS) return this.#withLogs({ error: 'the code returned an event that is too large' });
    if (hasTooManyValues(value)) return this.#withLogs({ error: `the code returned more than ${MAX_NODES} objects, lists and fields` });
    return this.#withLogs({ value });
  }

  #start(limitMs = this.#softMs): void {
    const now = performance.now();
    this.#deadline = now + limitMs;
    this.#nextPause = now + POLITE.after_ms;
    this.#cpuAtStart = threadCpuMs();
    this.#late = false;
  }

  #withLogs(result: RunResult): RunResult {
    if (result.ended) return result; // the context is discarded, and its logs with it
    this.#start();
    const context = this.#context;
    const has = context.callFunction(this.#host.hasLogs, context.undefined);
    if (has.error) {
      has.error.dispose();
      return result;
    }
    const any = context.dump(has.value) === true;
    has.value.dispose();
    if (!any) return result;
    const taken = context.callFunction(this.#host.takeLogs, context.undefined);
    if (taken.error) {
      taken.error.dispose();
      return result;
    }
    const logs = JSON.parse(context.getString(taken.value)) as string[];
    taken.value.dispose();
    return { ...result, logs };
  }

  #failure(error: QuickJSHandle): RunResult {
    const late = this.#late;
    this.#start(); // reading the error may run a getter
    const { name, message, line } = this.#describe(error);
    error.dispose();
    if (late) return { error: `stopped after ${this.#softMs} ms`, ended: true };
    if (name === 'InternalError' && message === 'out of memory') return { error: 'stopped: out of memory', ended: true };
    const at = line === undefined ? '' : `line ${line}: `;
    return { error: `${at}${name}${message === '' ? '' : `: ${message}`}`.slice(0, 500) };
  }

  #describe(error: QuickJSHandle): { name: string; message: string; line: string | undefined } {
    const context = this.#context;
    if (context.typeof(error) !== 'object') return { name: 'thrown', message: short(context.dump(error)), line: undefined };
    const read = (key: string) => {
      const handle = context.getProp(error, key);
      const text = context.typeof(handle) === 'string' ? context.getString(handle) : '';
      handle.dispose();
      return text;
    };
    return { name: read('name') || 'Error', message: read('message'), line: /transform\.js:(\d+)/.exec(read('stack'))?.[1] };
  }

  get memoryBytes(): number {
    return this.#engine.getWasmMemory().buffer.byteLength;
  }
}

/** CPU time of this thread so far. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function short(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  return text.slice(0, 300);
}
