/** Turns of a measurement that the hypervisor left alone. */
import { MAX_STEAL_PERCENT, watchConditions } from './conditions.ts';

/** How often a disturbed turn is tried again, on average. */
const TRIES = 3;

/**
 * The results of `count` turns with at most 5 % steal. Other turns are repeated. If there are too few after three times as many turns, those with
 * the least steal count, and the output says that they are void.
 */
export async function undisturbed<T>(count: number, turn: () => Promise<T>): Promise<T[]> {
  const turns: { result: T; steal: number }[] = [];
  const clean = () => turns.filter(({ steal }) => steal <= MAX_STEAL_PERCENT);
  while (clean().length < count && turns.length < TRIES * count) {
    const conditions = watchConditions();
    const result = await turn();
    turns.push({ result, steal: conditions().stealPercent });
  }
  const counted = turns.toSorted((a, b) => a.steal - b.steal).slice(0, count);
  const most = counted.at(-1)?.steal ?? 0;
  const repeated = turns.length - count;
  if (most > MAX_STEAL_PERCENT) {
    console.log(`VOID: of ${turns.length} turns, the ${count} with the least steal count. Their most: ${most.toFixed(1)} %`);
    process.exitCode = 1;
  } else if (repeated > 0)
    console.log(`turns repeated because of steal: ${repeated}; most steal of the ${count} counted: ${most.toFixed(1)} %`);
  return counted.map(({ result }) => result);
}
