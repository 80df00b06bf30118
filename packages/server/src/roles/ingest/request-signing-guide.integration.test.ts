/** Runs the examples of docs/guides/request-signing.md, each in its own language, against a pipeline that requires signatures. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aPipeline, aSnapshot, type Harness, SECRET, startIngest } from './testing/harness.ts';

const GUIDE = readFileSync(new URL('../../../../../docs/guides/request-signing.md', import.meta.url), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'firsthand-signing-'));
const run = promisify(execFile);
let harness: Harness;
beforeAll(async () => {
  harness = await startIngest(aSnapshot([aPipeline({ type: 'server', config: { require_signature: true } })]));
});
afterAll(async () => {
  await harness.close();
  rmSync(folder, { recursive: true, force: true });
});

const EXAMPLES = [
  { name: 'node', fence: 'js', file: 'signed.cjs', command: [process.execPath], needs: [process.execPath] },
  { name: 'python', fence: 'python', file: 'signed.py', command: ['python3'], needs: ['python3'] },
  { name: 'php', fence: 'php', file: 'signed.php', command: ['php'], needs: ['php'] },
  // On a new machine it compiles Go's own packages too: not optimised, with nothing for debuggers and without those that need C, that takes
  // less than half the time.
  { name: 'go', fence: 'go', file: 'signed.go', command: ['go', 'run', '-gcflags=all=-N -l -dwarf=false'], needs: ['go'] },
  { name: 'curl', fence: 'sh', file: 'signed.sh', command: ['sh'], needs: ['curl', 'openssl'] },
] as const;
const isInstalled = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

for (const { name, fence, file, command, needs } of EXAMPLES) {
  const missing = needs.filter((program) => !isInstalled(program));
  const title = `the example for ${name}`;
  // Skipped by name: the runtime is not on this machine.
  test.skipIf(missing.length > 0)(
    missing.length > 0 ? `${title} (${missing.join(', ')} not installed)` : title,
    async () => {
      const code = new RegExp(`\`\`\`${fence}\\n([\\s\\S]*?)\`\`\``).exec(GUIDE)?.[1];
      if (code === undefined) throw new Error(`the guide has no example in ${fence}`);
      const path = join(folder, file);
      writeFileSync(path, code);
      const [program, ...args] = command;
      // Go's compiler collects garbage less often.
      const go = { CGO_ENABLED: '0', GOGC: '400' };
      const env = { ...process.env, ...go, INGEST_URL: harness.url, PIPELINE_KEY: 'pk_web', PIPELINE_SECRET: SECRET };
      const { stdout } = await run(program, [...args, path], { env });
      expect(JSON.parse(stdout)).toEqual({ success: true });
      expect((await harness.stored()).map(({ envelope }) => envelope.event_id)).toContain(`signed-${name}`);
    },
    120_000,
  );
}
