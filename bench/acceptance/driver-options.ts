import { createGuardedClient } from '@firsthand/server/outbound/guarded-client.ts';
import { createResolver, guardedLookup } from '@firsthand/server/outbound/resolver.ts';
import { createTokenCache } from '@firsthand/server/outbound/tokens.ts';
import { systemClock as clock } from '@firsthand/server/runtime/clock.ts';
import type { DriverOptions } from '@firsthand/server/transports/port.ts';

/** For a driver that runs without the product. */
export function driverOptions(): DriverOptions {
  const client = createGuardedClient({ allowPrivateDestinations: true, clock });
  const rotated = { newest: () => Promise.resolve(undefined), keep: () => Promise.resolve() };
  const tokens = createTokenCache({ client, clock, rotated, logger: { warn: () => undefined } });
  const lookup = guardedLookup(createResolver({ now: () => clock.monotonic() }), true);
  return { lookup, allowPrivateDestinations: true, http: { client, tokens, clock } };
}
