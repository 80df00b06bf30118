import { type ChildProcess, spawn } from 'node:child_process';

export interface Step {
  title: string;
  command: string;
  args: string[];
  env?: Record<string, string>;
}

/** Runs a command with its output shown; resolves with the exit code. */
export function run(command: string, args: string[], env: Record<string, string> = {}): Promise<number> {
  return ended(spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ...env } }));
}

export async function step(title: string, command: string, args: string[], env: Record<string, string> = {}): Promise<void> {
  const started = performance.now();
  console.log(`\n▶ ${title}`);
  report(title, await run(command, args, env), started);
}

/**
 * Runs the lanes in parallel, because most steps leave a core idle, and the steps of a lane one after the other. It prints the output of
 * a step when the step ends. The first failure stops all lanes.
 */
export async function inLanes(...lanes: Step[][]): Promise<void> {
  const running = new Set<ChildProcess>();
  const walk = async (steps: Step[]) => {
    for (const { title, command, args, env = {} } of steps) {
      const started = performance.now();
      // A group of its own, so that the processes a step started end with it.
      const child = spawn(command, args, {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...colours(), ...process.env, ...env },
        detached: true,
      });
      running.add(child);
      const output: Buffer[] = [];
      for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => output.push(chunk));
      const code = await ended(child);
      running.delete(child);
      console.log(`\n▶ ${title}`);
      process.stdout.write(Buffer.concat(output));
      if (code !== 0) stop(running);
      report(title, code, started);
    }
  };
  const stopAll = () => stop(running);
  process.once('SIGINT', stopAll).once('SIGTERM', stopAll);
  await Promise.all(lanes.map(walk));
  process.off('SIGINT', stopAll).off('SIGTERM', stopAll);
}

function stop(running: ReadonlySet<ChildProcess>): void {
  for (const { pid, exitCode, signalCode } of running)
    if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGTERM');
}

function colours(): Record<string, string> {
  return process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};
}

function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? (signal ? 1 : 0)));
  });
}

function report(title: string, code: number, started: number): void {
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (code !== 0) {
    console.error(`✖ ${title} failed (exit ${code}, ${seconds} s)`);
    process.exit(1);
  }
  console.log(`✔ ${title} (${seconds} s)`);
}
