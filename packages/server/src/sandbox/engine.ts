/**
 * QuickJS as WebAssembly. Compiled once per process, instantiated once per piece of code: WebAssembly bounds the memory of each instance.
 * QuickJS's own memory limit does not work here, because under Emscripten it cannot determine the size of its allocations.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSWASMModule, RELEASE_SYNC } from 'quickjs-emscripten';

interface WasmGlobal {
  WebAssembly: {
    compile(bytes: Uint8Array): Promise<WebAssembly.Module>;
    Memory: new (size: { initial: number; maximum: number }) => NonNullable<Parameters<typeof newVariant>[1]['wasmMemory']>;
  };
}
const { WebAssembly: wasm } = globalThis as unknown as WasmGlobal; // in Node, but its types come with the DOM library only
const PAGE_BYTES = 65_536;
/** The initial memory that the module requests. Untouched pages cost nothing. */
export const INITIAL_BYTES = 16 * 1024 * 1024;

let compiled: Promise<WebAssembly.Module> | undefined;

/** Workers share the compiled code, so they start without compiling and already optimised. */
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

/** The variant is a dependency of quickjs-emscripten, so resolve it from there. */
function wasmPath(): string {
  const ofQuickJs = createRequire(createRequire(import.meta.url).resolve('quickjs-emscripten'));
  return ofQuickJs.resolve('@jitl/quickjs-wasmfile-release-sync/wasm');
}
