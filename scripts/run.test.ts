import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { Step } from './run.ts';

const sh = (title: string, script: string): Step => ({ title, command: 'sh', args: ['-c', script] });

function lanes(...steps: Step[][]) {
  const script = `import { inLanes } from ${JSON.stringify(new URL('run.ts', import.meta.url).href)}; await inLanes(...${JSON.stringify(steps)});`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
}

test('every step of every lane runs, and its output is shown in one piece', () => {
  const { status, stdout } = lanes([sh('a', 'echo one; echo two'), sh('b', 'echo three >&2')], [sh('c', 'echo four')]);
  expect(status).toBe(0);
  for (const piece of [/▶ a\none\ntwo\n✔ a/, /▶ b\nthree\n✔ b/, /▶ c\nfour\n✔ c/]) expect(stdout).toMatch(piece);
});

test('the first failure ends the other lanes with all their processes', () => {
  const { status, stderr } = lanes([sh('fails', 'exit 3')], [sh('hangs', 'sleep 3600 & wait')]);
  expect([status, stderr]).toEqual([1, expect.stringContaining('fails failed (exit 3')]);
});
