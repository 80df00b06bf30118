/** Every fault by hand: a visible list. */
import { f1 } from './f01-kill.ts';
import { f2 } from './f02-slow-flush.ts';
import { f3 } from './f03-disk-full.ts';
import { f4 } from './f04-io-error.ts';
import type { Fault } from './kit/fault.ts';

export const FAULTS: readonly Fault[] = [f1, f2, f3, f4];
