/** A log, a delivery role and a receiver of its own for each test of a file. */
import { afterEach, beforeEach } from 'vitest';
import { Bench, Receiver } from './bench.ts';

export let bench: Bench;
export let receiver: Receiver;

/** Call once in a test file. */
export function openForEachTest(open = () => Bench.open()): void {
  beforeEach(async () => {
    bench = await open();
    receiver = await Receiver.start();
  });
  afterEach(async () => {
    await bench.close();
    await receiver.stop();
  });
}
