/**
 * QuickJS as WebAssembly. Compiled once in the process, instantiated once for each piece of code: an instance has a memory of its own
 * whose size is bounded by the machine itself. QuickJS's own memory limit does not hold there, since under Emscripten it cannot tell
 * the size of what it has allocated.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSWASMModule, RELEASE_SYNC } from 'quickjs-emscripten';

/** Node has it; its types come only with the browser's. */
const { WebAssembly: wasm } = globalThis as unknown as {
  WebAssembly: {
    compile(bytes: Uint8Array): Promise<WebAssembly.Module>;
    Memory: new (size: { initial: number; maximum: number }) => NonNullable<Parameters<typeof newVariant>[1]['wasmMemory']>;
  };
};
const PAGE_BYTES = 65_536;
/** What the module asks for; most of it is never touched, and costs no memory until it is. */
export const INITIAL_BYTES = 16 * 1024 * 1024;

let compiled: Promise<WebAssembly.Module> | undefined;

/** Workers share the compiled code: theirs starts without a compiler, and as fast as the others have made it. */
export function compileEngine(): Promise<WebAssembly.Module> {
  compiled ??= readFile(wasmPath())
    .then((bytes) => wasm.compile(bytes))
    .catch((error: unknown) => {
      compiled = undefined;
      throw error;
    });
  return compiled;
}

export async function newEngine(module: WebAssembly.Module, memoryBytes: number): Promise<QuickJSWASMModule> {
  const maximum = Math.floor(Math.max(memoryBytes, INITIAL_BYTES) / PAGE_BYTES);
  const wasmMemory = new wasm.Memory({ initial: INITIAL_BYTES / PAGE_BYTES, maximum });
  return newQuickJSWASMModuleFromVariant(newVariant(RELEASE_SYNC, { wasmModule: module, wasmMemory }));
}

/** The variant is quickjs-emscripten's own dependency, so that is where to ask for it. */
function wasmPath(): string {
  const ofQuickJs = createRequire(createRequire(import.meta.url).resolve('quickjs-emscripten'));
  return ofQuickJs.resolve('@jitl/quickjs-wasmfile-release-sync/wasm');
}
