/**
 * A restore swaps several files in DATA_DIR. The plan is written first. If a crash interrupts the swap, the next process that opens the
 * directory finishes it, so old and new files are never mixed.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const PLAN_FILE = 'restore-plan.json';
const MOVED_MARK = '.moved';

export interface RestorePlan {
  /** Folder in DATA_DIR with the verified new files. */
  incoming: string;
  /** Folder in DATA_DIR that receives the current files. */
  replaced: string;
  /** Files and folders to move away, whether or not the backup contains a new one. */
  names: string[];
}

export function swapIn(dataDir: string, plan: RestorePlan): void {
  const file = join(dataDir, PLAN_FILE);
  const draft = `${file}.draft`;
  try {
    writeFileSync(draft, `${JSON.stringify(plan)}\n`, { mode: 0o600, flush: true });
    renameSync(draft, file);
  } catch (error) {
    // Such as a full disk. Nothing has been moved yet.
    rmSync(draft, { force: true });
    rmSync(join(dataDir, plan.incoming), { recursive: true, force: true });
    throw error;
  }
  carryOut(dataDir, plan, readdirSync(join(dataDir, plan.incoming)));
}

/** As `firsthand restore` names its `incoming`. */
const INCOMING = /^restore-\d{4}-[\dTZ-]+$/;

/**
 * Removes copies of a restore that was killed before its swap. Call while no other process owns the folder: a restore may be writing one.
 */
export function removeAbandonedCopies(dataDir: string): void {
  if (hasInterruptedRestore(dataDir)) return;
  for (const name of readdirSync(dataDir)) if (INCOMING.test(name)) rmSync(join(dataDir, name), { recursive: true, force: true });
}

export function hasInterruptedRestore(dataDir: string): boolean {
  return existsSync(join(dataDir, PLAN_FILE));
}
export function finishInterruptedRestore(dataDir: string): void {
  const file = join(dataDir, PLAN_FILE);
  if (!existsSync(file)) return;
  const plan = readPlan(file);
  if (plan === undefined) {
    if (readdirSync(dataDir).some((name) => existsSync(join(dataDir, name, MOVED_MARK)))) throw new Error(`${file} is damaged: not JSON`);
    rmSync(file);
    return;
  }
  const incoming = join(dataDir, plan.incoming);
  carryOut(dataDir, plan, existsSync(incoming) ? readdirSync(incoming) : []);
}

/** Idempotent. `arriving` lists the files still in `incoming`. */
function carryOut(dataDir: string, plan: RestorePlan, arriving: string[]): void {
  const replaced = join(dataDir, plan.replaced);
  mkdirSync(replaced, { recursive: true, mode: 0o700 });
  const mark = join(replaced, MOVED_MARK);
  if (!existsSync(mark)) {
    for (const name of plan.names) if (existsSync(join(dataDir, name))) renameSync(join(dataDir, name), join(replaced, name));
    // From here on, any file with one of these names in DATA_DIR is new.
    writeFileSync(mark, '', { mode: 0o600, flush: true });
  }
  for (const name of arriving) renameSync(join(dataDir, plan.incoming, name), join(dataDir, name));
  rmSync(join(dataDir, plan.incoming), { recursive: true, force: true });
  rmSync(join(dataDir, PLAN_FILE));
  rmSync(mark);
}

/** Undefined for a plan that is not whole: an earlier version wrote it on a full disk, and moved nothing. */
function readPlan(file: string): RestorePlan | undefined {
  let plan: RestorePlan;
  try {
    plan = JSON.parse(readFileSync(file, 'utf8')) as RestorePlan;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  // Validate although the file is ours: these names decide what is renamed.
  for (const name of [plan.incoming, plan.replaced, ...plan.names])
    if (basename(name) !== name) throw new Error(`${file} names a path outside of DATA_DIR: ${name}`);
  return plan;
}
