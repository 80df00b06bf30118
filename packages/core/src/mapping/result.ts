import type { CanonicalEvent } from '../event/canonical.ts';
import type { DropReason } from '../outcome/outcome.ts';
import type { ConfigFault } from '../vendor/compiled.ts';

export type Mapped =
  /** The payload belongs to the caller and shares nothing with the event. */
  | { kind: 'payload'; payload: unknown; vendor_event_name?: string }
  | { kind: 'dropped'; reason: DropReason }
  | { kind: 'pass_through'; event: CanonicalEvent }
  | { kind: 'failed'; reason: string };

export type CompiledMapping =
  | {
      ok: true;
      run(event: CanonicalEvent, context?: { now: number }): Mapped;
      /** Every event passes through, whatever it is. */
      passes_all?: boolean;
    }
  | { ok: false; faults: ConfigFault[] };

export interface MappingOptions {
  /** Starts the path of every fault; empty when the mapping stands at the top of the config. */
  where?: string;
  /** What happens to events without an entry where the config says nothing: `pass_through` for webhook, custom_http and storage. */
  default_action?: 'pass_through' | 'drop';
  /** The vendor's config fields, readable as `parameters.<key>` in sources, conditions and templates. */
  parameters?: Readonly<Record<string, unknown>>;
}
