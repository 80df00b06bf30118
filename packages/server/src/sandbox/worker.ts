/**
 * The worker thread: QuickJS, and nothing else to escape to. Contexts are kept per key and code text, so that code is
 * compiled once; one whose run was stopped is thrown away.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { newQuickJSWASMModule } from 'quickjs-emscripten';
import { LEAVE_REST, RUNNING, type RunMessage, type RunResult, type SandboxLimits, type WorkerReply } from './protocol.ts';
import { Vm } from './vm.ts';

const MAX_CONTEXTS = 64;

const port = parentPort;
if (port === null) throw new Error('the sandbox worker runs only as a worker thread');
const { limits, shared: buffer } = workerData as { limits: SandboxLimits; shared: SharedArrayBuffer };
const shared = new Int32Array(buffer);
const module = await newQuickJSWASMModule();
const contexts = new Map<string, Vm>();

function contextFor(message: RunMessage): Vm | RunResult {
  const known = message.fresh ? undefined : contexts.get(message.key);
  if (known !== undefined) {
    contexts.delete(message.key);
    if (known.code === message.code) {
      contexts.set(message.key, known);
      return known;
    }
    known.dispose();
  }
  const loaded = Vm.load(module, message.code, limits);
  if (!loaded.ok) return { error: loaded.error, ...(loaded.ended && { ended: true }) };
  if (!message.fresh) {
    if (contexts.size >= MAX_CONTEXTS) forget(contexts.keys().next().value as string);
    contexts.set(message.key, loaded.vm);
  }
  return loaded.vm;
}

function forget(key: string): void {
  const vm = contexts.get(key);
  contexts.delete(key);
  vm?.dispose();
}

function runOne(message: RunMessage, event: string): RunResult {
  const vm = contextFor(message);
  if (!(vm instanceof Vm)) return vm;
  const result = message.load_only ? {} : vm.run(event, message.parameters);
  if (message.fresh) vm.dispose();
  else if (result.ended) forget(message.key);
  return result;
}

port.on('message', (message: RunMessage) => {
  const results: RunResult[] = [];
  for (const event of message.events) {
    if (Atomics.load(shared, LEAVE_REST) === 1) break;
    Atomics.store(shared, RUNNING, results.length + 1);
    results.push(runOne(message, event));
  }
  Atomics.store(shared, RUNNING, 0);
  port.postMessage({ type: 'results', results, wasm_bytes: module.getWasmMemory().buffer.byteLength } satisfies WorkerReply);
});
// The engine's own first run is the slowest: better now than at the cost of somebody's first event.
const warm = Vm.load(module, 'function transform(event) { return event }', limits);
if (warm.ok) {
  warm.vm.run('{"type":"track"}', '{"a":"b"}');
  warm.vm.dispose();
}
port.postMessage({ type: 'ready' } satisfies WorkerReply);
