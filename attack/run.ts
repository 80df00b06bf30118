/**
 * `npm run attack [collection archives upgrades templates patterns tokens addresses schema] [--rounds N]`: starts the service and
 * attacks it with each corpus. Ends with 1 after a wrong answer, a 5xx or the end of the process.
 */
import { loadavg } from 'node:os';
import { PRODUCTION, RUNNERS } from './list.ts';
import { runSchemathesis } from './schema.ts';
import { answersOf, attack, startTarget } from './target.ts';

const words = process.argv.slice(2);
const rounds = Number(words[words.indexOf('--rounds') + 1] ?? 1);
const asked = words.filter((word, i) => !word.startsWith('--') && words[i - 1] !== '--rounds');
const unknown = asked.filter((name) => name !== 'schema' && !RUNNERS.some((runner) => runner.name === name));
if (unknown.length > 0) {
  console.error(`There is no runner ${unknown.join(', ')}; there are ${RUNNERS.map(({ name }) => name).join(', ')}, schema.`);
  process.exit(1);
}
let failed = false;
console.log(`Node ${process.version}, load ${loadavg()[0]?.toFixed(1)}`);
for (const runner of RUNNERS) {
  if (asked.length > 0 && !asked.includes(runner.name)) continue;
  const target = await startTarget(runner.name === 'addresses' ? PRODUCTION : {});
  try {
    const report = await attack(runner, target, words.includes('--rounds') ? rounds : 1);
    const { cases, faults, stall, peakMb } = report;
    console.log(
      `${runner.name}: ${cases} cases (${answersOf(report)}); longest stall ${stall.wall} ms, own work ${stall.cpu} ms ${stall.step ?? ''}; peak memory ${peakMb ?? '?'} MB; load ${loadavg()[0]?.toFixed(1)}`,
    );
    for (const fault of new Set(faults)) console.log(`  FAULT ${fault}`);
    failed ||= faults.length > 0;
  } finally {
    await target.service.stop();
  }
}
if (asked.includes('schema')) failed = !(await runSchemathesis()) || failed;
process.exit(failed ? 1 : 0);
