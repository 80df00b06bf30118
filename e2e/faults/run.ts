/**
 * `npm run faults [F1 F3 …] [--quick | --full] [--markdown]`: runs the faults one after the other, each in its own process. Prints the
 * expected and the measured figures. Exits with 1 if a figure is not as expected.
 */
import { fork } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { watchConditions } from '../../bench/conditions.ts';
import type { Fault, Verdict } from './kit/fault.ts';
import { printClusterTable, printVerdict } from './kit/print.ts';
import type { Mode } from './kit/scope.ts';
import { FAULTS } from './list.ts';

const words = process.argv.slice(2);
const mode: Mode = words.includes('--quick') ? 'quick' : words.includes('--full') ? 'full' : 'normal';
const asked = words.filter((word) => !word.startsWith('--')).map((word) => word.toUpperCase());
const unknown = asked.filter((id) => !FAULTS.some((fault) => fault.id === id));
if (unknown.length > 0) {
  console.error(`There is no fault ${unknown.join(', ')}; there are ${FAULTS.map((fault) => fault.id).join(', ')}.`);
  process.exit(1);
}
const markdown = words.includes('--markdown');
console.log(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, ${mode}, load ${loadavg()[0]!.toFixed(1)}`);

type Ended = { verdict: Verdict } | { error: string };
function runOne(fault: Fault): Promise<Ended> {
  return new Promise((resolve) => {
    const child = fork(join(import.meta.dirname, 'one.ts'), [fault.id, mode], { serialization: 'advanced' });
    let ended: Ended = { error: 'it ended without a verdict' };
    const limit = fault.limit_s[mode];
    const late = setTimeout(() => {
      ended = { error: `it was not done within ${limit} s` };
      child.kill('SIGTERM');
      setTimeout(() => child.kill('SIGKILL'), 10_000).unref();
    }, limit * 1_000);
    child.on('message', (message: Ended) => {
      ended = message;
    });
    child.once('exit', () => {
      clearTimeout(late);
      resolve(ended);
    });
  });
}

const began = performance.now();
let failed = 0;
const verdicts: { id: string; verdict: Verdict }[] = [];
for (const fault of FAULTS) {
  if (asked.length > 0 && !asked.includes(fault.id)) continue;
  const start = performance.now();
  const conditions = watchConditions();
  const ended = await runOne(fault);
  const seconds = (performance.now() - start) / 1_000;
  const ok = 'verdict' in ended && ended.verdict.figures.every((figure) => figure.ok !== false);
  if (!ok) failed++;
  if ('verdict' in ended) verdicts.push({ id: fault.id, verdict: ended.verdict });
  printVerdict(fault, ended, { seconds, conditions: conditions(), markdown });
}
printClusterTable(verdicts);
console.log(`\n${failed === 0 ? 'All survived' : `${failed} not survived`}, ${((performance.now() - began) / 60_000).toFixed(1)} min`);
process.exit(failed === 0 ? 0 : 1);
