/** The list of faults. Add a new one here. */
import { f1 } from './f01-kill.ts';
import { f2 } from './f02-slow-flush.ts';
import { f3 } from './f03-disk-full.ts';
import { f4 } from './f04-io-error.ts';
import { f5 } from './f05-blackhole.ts';
import { f6 } from './f06-hostile-vendor.ts';
import { f7 } from './f07-storm.ts';
import { f8 } from './f08-retry-after.ts';
import { f9 } from './f09-limits.ts';
import { f10 } from './f10-restart.ts';
import { f11 } from './f11-poison.ts';
import { f12 } from './f12-clock.ts';
import { f13 } from './f13-nats.ts';
import { f14 } from './f14-postgres.ts';
import { f15 } from './f15-broken-config.ts';
import { f16 } from './f16-oversize.ts';
import { f19 } from './f19-slow-loris.ts';
import { f20 } from './f20-strange-bytes.ts';
import { f22 } from './f22-debug-sockets.ts';
import { f23 } from './f23-terminate.ts';
import { f24 } from './f24-soak.ts';
import { f25 } from './f25-overload.ts';
import { f26 } from './f26-repeats.ts';
import { f27 } from './f27-order.ts';
import { f28 } from './f28-fairness.ts';
import { f29 } from './f29-hostile-configuration.ts';
import { f30 } from './f30-cluster-brokers.ts';
import { f31 } from './f31-roles.ts';
import { f32 } from './f32-database-away.ts';
import { f33 } from './f33-partitions-raised.ts';
import { f35 } from './f35-two-organisations.ts';
import { f36 } from './f36-batch-repeats.ts';
import type { Fault } from './kit/fault.ts';

export const FAULTS: readonly Fault[] = [
  f1,
  f2,
  f3,
  f4,
  f5,
  f6,
  f7,
  f8,
  f9,
  f10,
  f11,
  f12,
  f13,
  f14,
  f15,
  f16,
  f19,
  f20,
  f22,
  f23,
  f24,
  f25,
  f26,
  f27,
  f28,
  f29,
  f30,
  f31,
  f32,
  f33,
  f35,
  f36,
];
