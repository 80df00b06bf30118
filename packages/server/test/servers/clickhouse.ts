import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { answers, findProgram, startServer, type TestServer } from './process.ts';

const SHIM = fileURLToPath(new URL('clickhouse_http.py', import.meta.url));
let found: string | null | undefined;

/** A Python that has `chdb`, ClickHouse's engine: `CHDB_PYTHON`, or python3 on the PATH. */
export function findChdb(): string | undefined {
  found ??= [process.env.CHDB_PYTHON, findProgram('python3')].find((python) => python !== undefined && imports(python)) ?? null;
  return found ?? undefined;
}
function imports(python: string): boolean {
  try {
    execFileSync(python, ['-c', 'import chdb'], { stdio: 'ignore' });
    return true;
  } catch {
    return false; // not installed there
  }
}

/** ClickHouse's engine behind a small HTTP server: database `test`, user `firsthand`, password `secret`. */
export function startClickhouse(): Promise<TestServer> {
  const python = findChdb();
  if (!python) throw new Error('chdb is not installed (pip install chdb, and CHDB_PYTHON names that Python)');
  return startServer({
    name: 'clickhouse',
    command: (_directory, port) => [python, SHIM, String(port)],
    url: (port) => `http://127.0.0.1:${port}`,
    ready: (port) => answers(port, Buffer.from('GET / HTTP/1.0\r\n\r\n'), ['HTTP/1.1 200', 'HTTP/1.0 200']),
    endSignal: 'SIGTERM',
  });
}
