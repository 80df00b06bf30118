/**
 * Preloaded with `--import` into a service under test: makes one function of its source throw where nobody catches it.
 * `THROW_INSIDE=<path>#<function>@<call>` names the function and the call at which it happens; with `!` at its end the thread exits instead. The function is found in the
 * parsed source, so a renamed one fails the test instead of being skipped. Production code has no hook for this.
 */
import { registerHooks, syncBuiltinESMExports } from 'node:module';
import workerThreads, { isMainThread, Worker, type WorkerOptions, workerData } from 'node:worker_threads';

const [, file, name, call, exits] = /^(.+)#(.+)@(\d+)(!?)$/.exec(process.env.THROW_INSIDE ?? '') ?? [];
if (isMainThread) {
  // Node does not preload into a worker thread whose code is a text. Only the threads of roles have one of these functions.
  workerThreads.Worker = class extends Worker {
    constructor(code: string | URL, options?: WorkerOptions) {
      const own = JSON.stringify(import.meta.url);
      super(
        typeof code === 'string'
          ? code.replace(/import\("[^"]+\/(background|management)\/thread\.ts"\)/, `import(${own}).then(() => $&)`)
          : code,
        options,
      );
    }
  };
  syncBuiltinESMExports();
}
const hasRoles = isMainThread || (workerData as { settings?: unknown } | null)?.settings !== undefined;
if (hasRoles && file !== undefined && name !== undefined) {
  // Not at the top: it would be loaded into every worker thread of the service.
  const { parseAst } = await import('vite');
  let left = Number(call);
  Object.assign(globalThis, {
    throwInside() {
      // From a microtask: no caller's try/catch is around it, as with a bug in a callback.
      if (--left !== 0) return;
      if (exits === '!') process.exit(0);
      queueMicrotask(() => {
        throw new Error(`injected into ${name}`);
      });
    },
  });
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.endsWith(`/${file}`)) return loaded;
      return { ...loaded, source: withCall(String(loaded.source), name, parseAst) };
    },
  });
}

/** The source with a call of `throwInside` at the beginning of the named function's body. */
function withCall(source: string, wanted: string, parseAst: typeof import('vite').parseAst): string {
  let at: number | undefined;
  JSON.stringify(parseAst(source, { lang: 'ts' }), (_key, node) => {
    const owner = node?.type === 'FunctionDeclaration' ? node.id : node?.type === 'MethodDefinition' ? node.key : undefined;
    if (owner?.name === wanted) at = (node.body ?? node.value.body).start + 1;
    return node;
  });
  if (at === undefined) throw new Error(`${file} has no function ${wanted}`);
  return `${source.slice(0, at)}globalThis.throwInside();${source.slice(at)}`;
}
