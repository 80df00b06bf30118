import { spawn } from 'node:child_process';

/** Runs a command with its output shown; resolves with the exit code. */
export function run(command: string, args: string[], env: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ...env } });
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? (signal ? 1 : 0)));
  });
}

export async function step(title: string, command: string, args: string[], env?: Record<string, string>): Promise<void> {
  const started = performance.now();
  console.log(`\n▶ ${title}`);
  const code = await run(command, args, env);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (code !== 0) {
    console.error(`✖ ${title} failed (exit ${code}, ${seconds} s)`);
    process.exit(1);
  }
  console.log(`✔ ${title} (${seconds} s)`);
}
