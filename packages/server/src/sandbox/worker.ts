/**
 * The worker thread: runs QuickJS and holds nothing worth escaping to. Contexts are cached per key and code text, so that code is compiled
 * once; a context whose run was stopped is discarded. Each context has its own engine, so its memory use affects no other code, and
 * discarding it needs no cleanup.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { QuickJSWASMModule } from 'quickjs-emscripten';
import { INITIAL_BYTES, newEngine } from './engine.ts';
import { LEAVE_REST, RUNNING, type RunMessage, type RunResult, type WorkerReply, type WorkerStart } from './protocol.ts';
import { threadCpuMs, Vm } from './vm.ts';

const MAX_CONTEXTS = 32;
/** Limit of memory beyond the engines' initial memory. */
const MAX_GROWN_BYTES = 64 * 1024 * 1024;

/** Results are reported at the end of a message, or when they have waited so long. */
const REPORT_MS = 1;

if (parentPort === null) throw new Error('the sandbox worker runs only as a worker thread');
const port = parentPort;
const { limits, shared: buffer, engine: compiled } = workerData as WorkerStart;
const shared = new Int32Array(buffer);
const contexts = new Map<string, Vm>();

function known({ fresh, key, code }: RunMessage): Vm | undefined {
  const vm = fresh ? undefined : contexts.get(key);
  if (vm === undefined) return undefined;
  contexts.delete(key);
  if (vm.code !== code) return undefined;
  contexts.set(key, vm);
  return vm;
}

function load(message: RunMessage, engine: QuickJSWASMModule): Vm | RunResult {
  const loaded = Vm.load(engine, message.code, limits);
  if (!loaded.ok) return { error: loaded.error, ...(loaded.ended && { ended: true }) };
  if (!message.fresh) contexts.set(message.key, loaded.vm);
  return loaded.vm;
}

/** Evicts the oldest first; the newest always stays. */
function trim(): void {
  let grown = 0;
  for (const vm of contexts.values()) grown += vm.memoryBytes - INITIAL_BYTES;
  for (const [key, vm] of contexts) {
    if (contexts.size === 1 || (contexts.size <= MAX_CONTEXTS && grown <= MAX_GROWN_BYTES)) return;
    contexts.delete(key);
    grown -= vm.memoryBytes - INITIAL_BYTES;
  }
}

function runMeasured(message: RunMessage, event: string, engine: QuickJSWASMModule | undefined): RunResult {
  const before = threadCpuMs();
  const result = runOne(message, event, engine);
  return { ...result, cpu_ms: threadCpuMs() - before };
}

function runOne(message: RunMessage, event: string, engine: QuickJSWASMModule | undefined): RunResult {
  try {
    const vm = engine === undefined ? known(message)! : load(message, engine);
    if (!(vm instanceof Vm)) return vm;
    const result = message.load_only ? {} : vm.run(event, message.parameters);
    if (result.ended) contexts.delete(message.key);
    return result;
  } catch (error) {
    // The engine itself failed, for example out of memory: its instance is unusable.
    contexts.delete(message.key);
    return { error: `stopped: the engine failed (${error instanceof Error ? error.message : String(error)})`, ended: true };
  }
}

/** If an engine cannot be allocated, drops the cached contexts and tries once more. */
async function engineFor(message: RunMessage): Promise<QuickJSWASMModule | undefined> {
  if (known(message) !== undefined) return undefined;
  try {
    return await newEngine(compiled, limits.memory_bytes);
  } catch {
    contexts.clear();
    return newEngine(compiled, limits.memory_bytes);
  }
}

async function answer(message: RunMessage): Promise<void> {
  let results: RunResult[] = [];
  let reportedAt = performance.now();
  for (const [index, event] of message.events.entries()) {
    if (Atomics.load(shared, LEAVE_REST) === 1) break;
    // The next event may be slow: what is done must not wait for it.
    if (results.length > 0 && performance.now() - reportedAt > REPORT_MS) {
      port.postMessage({ type: 'results', results, last: false } satisfies WorkerReply);
      results = [];
      reportedAt = performance.now();
    }
    // Created before the event's time limit starts.
    const engine = await engineFor(message);
    Atomics.store(shared, RUNNING, index + 1);
    results.push(runMeasured(message, event, engine));
    Atomics.store(shared, RUNNING, 0);
  }
  port.postMessage({ type: 'results', results, last: true } satisfies WorkerReply);
  trim();
}

export async function start(): Promise<void> {
  port.on('message', (message: RunMessage) => {
    answer(message).catch((error: unknown) => {
      const failed = { error: `the engine cannot be started: ${error instanceof Error ? error.message : String(error)}` };
      port.postMessage({ type: 'results', results: message.events.map(() => failed), last: true } satisfies WorkerReply);
    });
  });
  // The first run of an engine is the slowest: do it now, not during the first event.
  const warm = Vm.load(await newEngine(compiled, limits.memory_bytes), 'function transform(event) { return event }', limits);
  if (warm.ok) warm.vm.run('{"type":"track"}', '{"a":"b"}');
  port.postMessage({ type: 'ready' } satisfies WorkerReply);
}
