/** strace on a running process: delays or fails its system calls on chosen files. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const hasStrace = () => spawnSync('strace', ['-V']).status === 0;

export interface Tracer {
  /** Time in seconds since 1970, and text of each delayed or failed call. */
  injected(): { at: number; text: string }[];
  calls(): number;
  detach(): Promise<void>;
}

export async function attach(pid: number, plan: { calls: string; inject: string; path?: string }): Promise<Tracer> {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-strace-'));
  const output = join(folder, 'calls');
  const only = plan.path === undefined ? [] : ['-P', plan.path];
  const args = ['-f', '-ttt', '-o', output, ...only, '-e', `trace=${plan.calls}`, '-e', `inject=${plan.calls}:${plan.inject}`];
  const child: ChildProcess = spawn('strace', [...args, '-p', String(pid)], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr!.on('data', (chunk: Buffer) => void (said += chunk.toString()));
  for (let waited = 0; !said.includes('attached'); waited += 20) {
    if (child.exitCode !== null || child.signalCode !== null || waited > 10_000) throw new Error(`strace did not attach: ${said}`);
    await sleep(20);
  }
  const lines = () => readFileSync(output, 'latin1').split('\n').filter(Boolean);
  return {
    injected: () =>
      lines()
        .filter((line) => line.includes('INJECTED') || line.includes('DELAYED'))
        .map((line) => ({ at: Number(/(\d{10}\.\d+)/.exec(line)![1]), text: line })),
    calls: () => lines().length,
    async detach() {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGTERM');
        await exited;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
