/**
 * Schema-driven cases against the whole API with schemathesis, from PyPI in a virtual environment of its own. Needs Python 3 and
 * the network; says so and leaves it out where they are missing.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { peakMemory, startTarget, watchStalls } from './target.ts';

const VERSION = '4.32.5';

export async function runSchemathesis(maxExamples = Number(process.env.ATTACK_EXAMPLES ?? 20)): Promise<boolean> {
  const folder = join(tmpdir(), `firsthand-schemathesis-${VERSION}`);
  const command = join(folder, 'bin', 'schemathesis');
  if (!existsSync(command)) {
    const made = spawnSync('python3', ['-m', 'venv', folder]).status === 0;
    const installed = made && spawnSync(join(folder, 'bin', 'pip'), ['install', '--quiet', `schemathesis==${VERSION}`]).status === 0;
    if (!installed) {
      console.log('schema: left out, Python 3 with venv and access to PyPI are needed');
      return true;
    }
  }
  // The run takes longer than the usual lifetime of a token.
  const target = await startTarget({ ACCESS_TOKEN_TTL: '24h' });
  const stalls = watchStalls(target.service);
  try {
    const args = [
      'run',
      `${target.service.url}/v1/admin/openapi.json`,
      '--checks',
      'not_a_server_error',
      '--max-examples',
      String(maxExamples),
      // These end the session, and every later case would be a 401.
      '--exclude-path-regex',
      '/auth/(logout|session)|/users/me/password',
      '--workers',
      '4',
    ];
    // Not `spawnSync`: the service's output must be read meanwhile.
    const run = spawn(command, [...args, '--header', `Authorization: Bearer ${target.client.token}`], { stdio: 'inherit' });
    const [status] = (await once(run, 'exit')) as [number | null];
    const { wall, cpu, step } = stalls.stop();
    console.log(`schema: longest stall ${wall} ms, own work ${cpu} ms ${step}; peak memory ${peakMemory(target.service.pid) ?? '?'} MB`);
    return status === 0 && target.service.ended() === undefined;
  } finally {
    await target.service.stop();
  }
}
