import type { CanonicalEvent } from '../event/canonical.ts';
import type { DropReason } from '../outcome/outcome.ts';
import type { Steps } from '../steps.ts';
import type { ConfigFault } from '../vendor/compiled.ts';

export type Mapped =
  /** The caller owns the payload; it shares nothing with the event. */
  | { kind: 'payload'; payload: unknown; vendor_event_name?: string }
  | { kind: 'dropped'; reason: DropReason }
  | { kind: 'pass_through'; event: CanonicalEvent }
  | { kind: 'failed'; reason: string };

export interface RunContext {
  now: number;
  /** Size of the event's JSON text. Without it the event is measured. */
  bytes?: number;
}
export type CompiledMapping =
  | {
      ok: true;
      run(event: CanonicalEvent, context?: RunContext): Mapped;
      /** The same, but fails with `PAYLOAD_TOO_LARGE` after the work of one step: use `runInSteps` then. */
      runAtOnce(event: CanonicalEvent, context?: RunContext): Mapped;
      /** The same, divided: a large event may take tens of milliseconds. Events that are mapped in between do not disturb it. */
      runInSteps(event: CanonicalEvent, context?: RunContext): Steps<Mapped>;
      /** Every event passes through unconditionally. */
      passes_all?: boolean;
    }
  | { ok: false; faults: ConfigFault[] };

export interface MappingOptions {
  /** Prefix of every fault's path. Empty if the mapping is at the top of the config. */
  where?: string;
  /** Action for events without an entry if the config has none: `pass_through` for webhook, custom_http and storage. */
  default_action?: 'pass_through' | 'drop';
  /** The vendor's config fields, available as `parameters.<key>` in sources, conditions and templates. */
  parameters?: Readonly<Record<string, unknown>>;
}
