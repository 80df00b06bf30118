/**
 * `npm run attack [collection archives upgrades templates patterns tokens addresses largest schema routes] [--rounds N]`: starts the service and
 * attacks it with each corpus. Ends with 1 after a wrong answer, a 5xx or the end of the process.
 *
 * A long run can be divided: `npm run attack -- collection --cases 50000 --seconds 280 --sums FILE` runs for so many seconds and adds its
 * slice to the file. The same command again continues where the last slice ended, until the file has so many cases; then it only says so.
 * `--first` sets the first round by hand (for `schema`: the seed).
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { PRODUCTION, RUNNERS } from './list.ts';
import { walkRoutes } from './routes.ts';
import { runSchemathesis } from './schema.ts';
import { Sums } from './sums.ts';
import { answersOf, attack, startTarget } from './target.ts';

const { values, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string' },
    first: { type: 'string' },
    cases: { type: 'string' },
    seconds: { type: 'string' },
    sums: { type: 'string' },
  },
});
const unknown = asked.filter((name) => name !== 'schema' && name !== 'routes' && !RUNNERS.some((runner) => runner.name === name));
if (unknown.length > 0) {
  console.error(`There is no runner ${unknown.join(', ')}; there are ${RUNNERS.map(({ name }) => name).join(', ')}, schema, routes.`);
  process.exit(1);
}
const sums = values.sums === undefined ? undefined : new Sums(values.sums);
const seconds = values.seconds === undefined ? Number.POSITIVE_INFINITY : Number(values.seconds);
const rounds = Number(values.rounds ?? (values.cases === undefined && values.seconds === undefined ? 1 : Number.POSITIVE_INFINITY));
const firstOf = (runner: string) => Number(values.first ?? sums?.next(runner) ?? 0);
/** Cases that are still to run. */
const missing = (runner: string) =>
  values.cases === undefined ? Number.POSITIVE_INFINITY : Number(values.cases) - (sums?.cases(runner) ?? 0);
const since = (began: number) => Math.round((performance.now() - began) / 1_000);

let failed = false;
console.log(`Node ${process.version}, load ${loadavg()[0]?.toFixed(1)}`);
for (const runner of RUNNERS) {
  const { name } = runner;
  if (asked.length > 0 && !asked.includes(name)) continue;
  const wanted = missing(name);
  if (wanted <= 0) {
    console.log(`${name}: complete, ${sums?.cases(name)} cases`);
    continue;
  }
  const began = performance.now();
  const target = await startTarget(name === 'addresses' ? PRODUCTION : {});
  try {
    const isOver = (cases: number) => cases >= wanted || performance.now() - began >= seconds * 1_000;
    const report = await attack(runner, target, rounds, { first: firstOf(name), isOver });
    const { cases, faults, stall, peakMb, next } = report;
    console.log(
      `${name}: ${cases} cases (${answersOf(report)}); longest stall ${stall.wall} ms, own work ${stall.cpu} ms ${stall.step ?? ''}; private memory ${peakMb} MB at most; load ${loadavg()[0]?.toFixed(1)}`,
    );
    for (const fault of new Set(faults)) console.log(`  FAULT ${fault}`);
    if (sums !== undefined)
      console.log(sums.add({ runner: name, cases, faults: faults.length, stall, peakMb, next, seconds: since(began) }));
    failed ||= faults.length > 0;
  } finally {
    await target.service.stop();
  }
}
if (asked.includes('schema') && missing('schema') <= 0) console.log(`schema: complete, ${sums?.cases('schema')} cases`);
else if (asked.includes('schema')) {
  const began = performance.now();
  const cases = values.cases === undefined ? 0 : missing('schema');
  const slice = await runSchemathesis({ seed: firstOf('schema') + 1, seconds, cases });
  if (slice !== undefined && sums !== undefined) console.log(sums.add({ ...slice, seconds: since(began) }));
  failed ||= slice !== undefined && slice.faults > 0;
}
if (asked.includes('routes')) {
  const { faults } = await walkRoutes();
  for (const fault of faults) console.log(`  FAULT ${fault}`);
  failed ||= faults.length > 0;
}
process.exit(failed ? 1 : 0);
