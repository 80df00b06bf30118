import type { Conditions } from '../../../bench/conditions.ts';
import type { Fault, Verdict } from './fault.ts';

/** Losses and repeats count whatever the machine does. Short times do not count when the hypervisor takes processor time. */
function textOf({ load, stealPercent, void: isVoid }: Conditions): string {
  return `load ${load[1].toFixed(1)}, steal ${stealPercent.toFixed(0)} %${isVoid ? ': short times are void' : ''}`;
}

export function printVerdict(
  fault: Pick<Fault, 'id' | 'title'>,
  ended: { verdict: Verdict } | { error: string },
  run: { seconds: number; conditions: Conditions; markdown: boolean },
): void {
  if ('error' in ended) {
    console.log(`\n${fault.id}  ${fault.title}  (${run.seconds.toFixed(0)} s, ${textOf(run.conditions)})`);
    console.log(`  ✗ ${ended.error}`);
    return;
  }
  const { figures, left_out = [] } = ended.verdict;
  if (run.markdown) {
    for (const { stores, what, wanted, measured, ok } of figures)
      console.log(`| ${fault.id} | ${fault.title} | ${stores} | ${what} | ${wanted} | ${measured} | ${mark(ok)} |`);
    for (const why of left_out) console.log(`| ${fault.id} | ${fault.title} | | skipped: ${why} | | | |`);
    return;
  }
  console.log(`\n${fault.id}  ${fault.title}  (${run.seconds.toFixed(0)} s, ${textOf(run.conditions)})`);
  const width = (of: (figure: (typeof figures)[number]) => string) => Math.max(...figures.map((figure) => of(figure).length), 0);
  const widths = [width((f) => f.stores), width((f) => f.what), width((f) => f.wanted)];
  for (const { stores, what, wanted, measured, ok } of figures)
    console.log(`  ${mark(ok)} ${stores.padEnd(widths[0]!)}  ${what.padEnd(widths[1]!)}  ${wanted.padEnd(widths[2]!)}  ${measured}`);
  for (const why of left_out) console.log(`  – skipped: ${why}`);
}
/** One line per fault of the cluster: the figures that `row` in `cluster.ts` names `<fault>: <column>`. */
export function printClusterTable(faults: readonly { id: string; verdict: Verdict }[]): void {
  const lines = faults.flatMap(({ id, verdict }) => {
    const values = new Map(verdict.figures.map(({ what, measured }) => [what, measured]));
    const names = [...values.keys()].flatMap((what) => (what.endsWith(': lost') ? [what.slice(0, -': lost'.length)] : []));
    return names.map((name) => {
      const value = (column: string) => values.get(`${name}: ${column}`) ?? '';
      const takeover = value('takeover') || value('slowest accepted event');
      return {
        fault: `${id} ${name}`,
        accepted: value('accepted'),
        lost: value('lost'),
        repeated: value('repeated'),
        out_of_order: value('out of order'),
        takeover,
      };
    });
  });
  if (lines.length > 0) console.table(lines);
}
function mark(ok: boolean | undefined): string {
  return ok === undefined ? ' ' : ok ? '✓' : '✗';
}
