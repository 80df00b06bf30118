/** Turns of a measurement that the hypervisor left alone. */
import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_STEAL_PERCENT, watchConditions } from './conditions.ts';

/** How often a turn is tried, on average. */
const TRIES = 3;
const QUIET_MS = 2_000;
/** How much longer the turns of this process may still wait for quiet moments, in all. */
let patienceMs = 30 * 60_000;

/**
 * The results of `count` turns with at most 5 % steal. A turn begins after two quiet seconds, and is repeated if it was disturbed. When the
 * patience is over and too few were undisturbed, those with the least steal count, and the output says that they are void.
 */
export async function undisturbed<T>(count: number, turn: () => Promise<T>): Promise<T[]> {
  const turns: { result: T; steal: number }[] = [];
  const clean = () => turns.filter(({ steal }) => steal <= MAX_STEAL_PERCENT);
  while (clean().length < count && turns.length < TRIES * count) {
    await quietMoment();
    const conditions = watchConditions();
    const result = await turn();
    turns.push({ result, steal: conditions().stealPercent });
  }
  const counted = turns.toSorted((a, b) => a.steal - b.steal).slice(0, count);
  const most = counted.at(-1)?.steal ?? 0;
  if (most > MAX_STEAL_PERCENT) {
    console.log(`VOID: of ${turns.length} turns, the ${count} with the least steal count, at most ${most.toFixed(1)} %`);
    process.exitCode = 1;
  } else if (turns.length > count)
    console.log(`${turns.length - count} turns were repeated because of steal; those that count had at most ${most.toFixed(1)} %`);
  return counted.map(({ result }) => result);
}

async function quietMoment(): Promise<void> {
  while (patienceMs > 0) {
    const conditions = watchConditions();
    await sleep(QUIET_MS);
    if (!conditions().void) return;
    patienceMs -= QUIET_MS;
  }
}
