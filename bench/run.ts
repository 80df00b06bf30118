/**
 * `npm run bench [name …]`: runs the benchmarks one after the other, each in its own process so that heap and compiled code do not
 * carry over. Figures are ratios to a floor or a peer from the same run. Use a quiet machine.
 */
import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { join } from 'node:path';

const QUESTIONS = [
  'ingest',
  'event-log',
  'mapping',
  'vendor-requests',
  'processing',
  'delivery',
  'files',
  'end-to-end',
  'trace-cost',
  'admin-reads',
  'idle',
  'retained',
  'collector-size',
  'console',
];

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !QUESTIONS.includes(name));
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}; there are ${QUESTIONS.join(', ')}.`);
  process.exit(1);
}
console.log(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}`);
let failed = 0;
for (const name of asked.length > 0 ? asked : QUESTIONS) {
  console.log(`\n── ${name}`);
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, `${name}.ts`)], { stdio: 'inherit' });
  if (status !== 0) failed++;
}
if (failed > 0) process.exit(1);
