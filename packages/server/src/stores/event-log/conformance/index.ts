/** The conformance suite that every log engine must pass. */
import { describe } from 'vitest';
import { describeGroups } from './groups.ts';
import { type LogUnderTest, stand } from './kit.ts';
import { describeReading } from './reading.ts';
import { describeSettling } from './settling.ts';
import { describeUpkeep } from './upkeep.ts';

export function describeEventLog(name: string, make: () => LogUnderTest): void {
  describe(`${name}: the log`, () => {
    const engine = stand(make);
    describeReading(engine);
    describeGroups(engine);
    describeSettling(engine);
    describeUpkeep(engine);
  });
}
