/** A process that reads a source into the log of a folder until it is killed. Sends the number of stored events. */
import type { WebhookSource } from '@firsthand/core/config/resources.ts';
import { driverOptions } from '../../../../transports/testing/conformance.ts';
import { aPipeline, aSnapshot, startIngest } from '../../testing/harness.ts';

const { path, source } = JSON.parse(process.argv[2] ?? '') as { path: string; source: WebhookSource };
const harness = await startIngest(aSnapshot([aPipeline()], [source]), { path, consumers: { driver: driverOptions() } });
for (;;) {
  process.send?.((await harness.stored()).length);
  await new Promise((resolve) => setTimeout(resolve, 10));
}
