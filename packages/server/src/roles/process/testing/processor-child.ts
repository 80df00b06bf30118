/** A processor process for the order test: `node processor-child.ts <nats url>`. Prints `owns <n>` when its number of partitions changes. */

import { systemClock } from '../../../runtime/clock.ts';
import { createLogger } from '../../../runtime/logger.ts';
import { createSandbox } from '../../../sandbox/sandbox.ts';
import { connectNats, openJetStreamLog } from '../../../stores/event-log/jetstream.ts';
import { openKvLeases } from '../../../stores/leases/jetstream-kv.ts';
import type { Leases } from '../../../stores/leases/port.ts';
import { openKvVisitors } from '../../../stores/visitors/jetstream-kv.ts';
import { startProcess } from '../start.ts';
import { orderSnapshots } from './bench.ts';

const connection = await connectNats(process.argv[2]!);
const log = await openJetStreamLog({ connection, dedupWindowMs: 600_000, replicas: 1 });
const leases = openKvLeases({ connection, replicas: 1 });
let owned = 0;
const told: Leases = {
  share: (names, { won, lost }) =>
    leases.share(names, {
      async won(name) {
        await won(name);
        console.log(`owns ${++owned}`);
      },
      async lost(name) {
        await lost(name);
        console.log(`owns ${--owned}`);
      },
    }),
  close: () => leases.close(),
};
startProcess({
  log,
  leases: told,
  visitors: await openKvVisitors({ connection, replicas: 1 }),
  snapshots: orderSnapshots(),
  sandbox: createSandbox(),
  tap: { watched: () => false, emit: () => {} },
  settings: { deadLetterRetentionMs: 86_400_000, configReloadMs: 1_000 },
  clock: systemClock,
  logger: createLogger('warn'),
});
