/** What the roles of a thread share beside the stores and the snapshot: rate limits, the tap, user code, and the way to the vendors. */
import type { Settings } from './config.ts';
import { createGuardedClient } from './outbound/guarded-client.ts';
import { keepRotatedTokens } from './outbound/rotated-tokens.ts';
import { createTokenCache } from './outbound/tokens.ts';
import { createSharedLimits } from './rate-limits/shared-limits.ts';
import type { Clock } from './runtime/clock.ts';
import type { Logger } from './runtime/logger.ts';
import { createSandbox } from './sandbox/sandbox.ts';
import type { Ephemeral } from './stores/ephemeral/port.ts';
import type { EventLog } from './stores/event-log/port.ts';
import { createTap } from './tap/tap.ts';
import { createSender } from './transports/sender.ts';

export interface SharedPartsDeps {
  settings: Pick<Settings, 'natsUrl' | 'allowPrivateDestinations'>;
  log: EventLog;
  ephemeral: Ephemeral;
  clock: Clock;
  logger: Logger;
}

export type SharedParts = ReturnType<typeof createSharedParts>;
export function createSharedParts({ settings, log, ephemeral, clock, logger }: SharedPartsDeps) {
  const { natsUrl, allowPrivateDestinations } = settings;
  const rateLimits = createSharedLimits({ clock, ...(natsUrl === undefined ? {} : { ephemeral }) });
  const tap = createTap(ephemeral, clock);
  const sandbox = createSandbox({ clock, logger });
  const client = createGuardedClient({ allowPrivateDestinations, clock });
  const tokens = createTokenCache({ client, clock, logger, rotated: keepRotatedTokens(log) });
  const sender = createSender({ client, tokens, clock, allowPrivateDestinations });
  return {
    rateLimits,
    tap,
    sandbox,
    client,
    tokens,
    sender,
    /** Call when the roles have stopped, and before the snapshot and the stores close. */
    async close() {
      rateLimits.stop();
      tap.stop();
      await sandbox.stop();
      await sender.close();
      await client.close();
    },
  };
}
