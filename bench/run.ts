/**
 * `npm run bench [name …]`: runs the benchmarks one after the other, each in its own process so that heap and compiled code do not
 * carry over. Figures are ratios to a floor or a peer from the same run, and medians of alternating turns. Each section prints the
 * steal and load of the machine, and is void if the hypervisor took more than 5 % of the processor time.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describeConditions, describeMachine, watchConditions } from './conditions.ts';

const QUESTIONS = [
  'ingest',
  'event-log',
  'mapping',
  'vendor-requests',
  'processing',
  'delivery',
  'files',
  'end-to-end',
  'cluster',
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
console.log(describeMachine());
let failed = 0;
for (const name of asked.length > 0 ? asked : QUESTIONS) {
  console.log(`\n── ${name}`);
  const conditions = watchConditions();
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, `${name}.ts`)], { stdio: 'inherit' });
  const seen = conditions();
  console.log(describeConditions(seen));
  if (status !== 0 || seen.void) failed++;
}
if (failed > 0) process.exit(1);
