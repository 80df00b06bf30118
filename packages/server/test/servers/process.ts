import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { accessSync, chownSync, constants, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A real server on a free loopback port with data of its own, thrown away by `stop`. */
export interface TestServer {
  url: string;
  port: number;
  /** The program's own process id, undefined while it does not run. */
  readonly pid: number | undefined;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
  /** `kill -9`; the data stay for `restart`. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data; ends it in the orderly way first when it still runs. */
  restart(): Promise<void>;
  /** Freezes it: connections stay open, nothing answers. */
  pause(): void;
  resume(): void;
}

interface Recipe {
  name: string;
  command(directory: string, port: number): string[];
  prepare?(directory: string): Promise<void>;
  user?: { uid: number; gid: number } | undefined;
  url(port: number): string;
  ready(port: number): Promise<boolean>;
  endSignal: NodeJS.Signals;
}

export async function startServer(recipe: Recipe): Promise<TestServer> {
  const directory = mkdtempSync(join(tmpdir(), `firsthand-${recipe.name}-`));
  if (recipe.user) chownSync(directory, recipe.user.uid, recipe.user.gid);
  const removeData = () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  let port = await freePort();
  let child: ChildProcess | undefined;
  const atExit = () => {
    child?.kill('SIGKILL');
    removeData();
  };
  process.once('exit', atExit);

  async function start(anyPort = false): Promise<void> {
    for (let tries = 0; ; tries++) {
      const started = run(recipe.command(directory, port), recipe.user);
      child = started.child;
      const deadline = performance.now() + 120_000;
      while (started.child.exitCode === null && started.child.signalCode === null) {
        if (await recipe.ready(port)) return;
        if (performance.now() > deadline) break;
        await sleep(20);
      }
      await end('SIGKILL');
      // A server killed a moment ago may still hold its memory or port.
      if (tries === 20) throw new Error(`${recipe.name} did not start:\n${started.output()}`);
      await sleep(200);
      if (anyPort) port = await freePort();
    }
  }
  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = child;
    child = undefined;
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
    const exited = new Promise((resolve) => ending.once('exit', resolve));
    ending.kill('SIGCONT');
    ending.kill(signal);
    const late = setTimeout(() => ending.kill('SIGKILL'), 30_000);
    await exited;
    clearTimeout(late);
  }

  try {
    await recipe.prepare?.(directory);
    await start(true);
  } catch (error) {
    removeData();
    process.off('exit', atExit);
    throw error;
  }
  return {
    url: recipe.url(port),
    port,
    get pid() {
      return child?.pid;
    },
    async stop() {
      await end(recipe.endSignal);
      removeData();
      process.off('exit', atExit);
    },
    kill: () => end('SIGKILL'),
    async restart() {
      await end(recipe.endSignal);
      await start();
    },
    pause: () => {
      child?.kill('SIGSTOP');
      // The signal is on its way when kill returns: on a busy machine the server answers a last request after it.
      while (child?.pid !== undefined && runs(child.pid));
    },
    resume: () => void child?.kill('SIGCONT'),
  };
}

/** Whether some thread of the process is not stopped. */
function runs(pid: number): boolean {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) return false;
  return readdirSync(tasks).some((task) => !/\) [TXZ] /i.test(readFileSync(`${tasks}/${task}/stat`, 'utf8')));
}

/** Runs a program to its end; throws with its output where it fails. */
export async function runToEnd(command: string[], user?: { uid: number; gid: number }): Promise<void> {
  const { child, output } = run(command, user);
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}:\n${output()}`);
}

/** The command so that it does not outlive us, even where we are killed before our clean-up. */
export function endingWithUs(command: string[]): string[] {
  const setpriv = findProgram('setpriv');
  return setpriv ? [setpriv, '--pdeathsig', 'KILL', '--', ...command] : command;
}

function run(command: string[], user: { uid: number; gid: number } | undefined): { child: ChildProcess; output(): string } {
  const argv = endingWithUs(command);
  const child = spawn(argv[0]!, argv.slice(1), { stdio: ['ignore', 'pipe', 'pipe'], cwd: '/', ...user });
  let output = '';
  const collect = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-4_000);
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  child.on('error', (error) => collect(Buffer.from(String(error))));
  return { child, output: () => output };
}

/** Looks in `first`, then in the PATH, then in `folders`. */
export function findProgram(name: string, folders: string[] = [], first: string[] = []): string | undefined {
  for (const folder of [...first, ...(process.env.PATH ?? '').split(delimiter), ...folders]) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // not here: the next folder
    }
  }
  return undefined;
}

export function postgresFolders(): string[] {
  try {
    const root = '/usr/lib/postgresql';
    return readdirSync(root)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(root, version, 'bin'));
  } catch {
    return [];
  }
}

/** The user to run as where we are root and the program refuses that. */
export function userOtherThanRoot(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  const line = lines.find((text) => text.startsWith('postgres:')) ?? lines.find((text) => text.startsWith('nobody:'));
  if (!line) throw new Error('PostgreSQL refuses to run as root, and there is no user postgres or nobody to run it as');
  const [, , uid, gid] = line.split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

/**
 * Below the ports that the system gives to outgoing connections: one of those could be taken by any request between this
 * moment and the start of the server, or while the server is down for a restart. One after the other, and from a place by chance, so that
 * neither this process nor another one of the run gives the same port to somebody else.
 */
export async function freePort(): Promise<number> {
  const ports = firstOutgoingPort() - LOWEST_PORT;
  for (;;) {
    const port = ports > 1_000 ? LOWEST_PORT + (next++ % ports) : 0;
    const free = await listenOnce(port);
    if (free !== undefined) return free;
  }
}
const LOWEST_PORT = 10_240;
let next = randomInt(2 ** 30);

function firstOutgoingPort(): number {
  try {
    return Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/)[0]);
  } catch {
    return 32_768;
  }
}

/** The port where it could be listened on, 0 meaning any. */
function listenOnce(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(address && typeof address === 'object' ? address.port : undefined));
    });
  });
}

/** Sends `hello` and says whether the answer begins with one of the texts, or is what `accepted` wants. */
export function answers(port: number, hello: Buffer | undefined, accepted: string[] | ((data: Buffer) => boolean)): Promise<boolean> {
  const isRight =
    typeof accepted === 'function' ? accepted : (data: Buffer) => accepted.some((start) => data.toString('latin1').startsWith(start));
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const finish = (ok: boolean) => {
      socket.destroy();
      resolve(ok);
    };
    socket.setTimeout(5_000, () => finish(false));
    socket.once('error', () => finish(false));
    socket.once('close', () => finish(false));
    socket.once('connect', () => hello && socket.write(hello));
    socket.once('data', (data) => finish(isRight(data)));
  });
}
