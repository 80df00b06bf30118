/** A vendor's HTTP requests behind the port of a driver, so that one suite tests both. Batches are cut as delivery cuts them. */

import type { JsonObject } from '@firsthand/core/json.ts';
import { compileVendor } from '@firsthand/core/vendor/compile.ts';
import type { CompiledVendor, VendorItem, Verdict } from '@firsthand/core/vendor/compiled.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import type { TransportRecord } from '@firsthand/core/vendor/transport.ts';
import { privateKeys } from '../../../runtime/private-keys.ts';
import type { OpenTransport } from '../../port.ts';
import { createSender } from '../../sender.ts';

type ItemVerdict = Exclude<Verdict, { kind: 'partial' }>;

export function compiledFor(definition: VendorDefinition, config: JsonObject): CompiledVendor {
  const result = compileVendor(definition, config, { mode: 'development', allow_private: true, keys: privateKeys });
  if (!result.ok) throw new Error(JSON.stringify(result));
  return result.vendor;
}

/** The settings of the connection are the vendor's config, as JSON under `config`; `target` fills in what depends on the target. */
export function viaVendor(definition: VendorDefinition, target: (name: string) => JsonObject): OpenTransport {
  return ({ config = '{}' }, { http, allowPrivateDestinations }) => {
    const sender = createSender({ ...http, allowPrivateDestinations });
    return {
      async send(records, { timeout_ms }) {
        const settings = { ...(JSON.parse(config) as JsonObject), ...target(records[0]?.target ?? '') };
        const vendor = { ...compiledFor(definition, settings), timeout_ms };
        const items = records.flatMap((record) => itemsOf(vendor, record));
        const verdicts: ItemVerdict[] = [];
        for (const part of batchesOf(vendor, items)) {
          const { verdict } = await sender.send({ vendor, items: part, attempt: 1 }, `request-${verdicts.length}`);
          verdicts.push(...part.map((_, i) => (verdict.kind === 'partial' ? (verdict.items[i] as ItemVerdict) : verdict)));
          // The rest would fail in the same way.
          if (verdict.kind === 'unavailable') verdicts.push(...items.slice(verdicts.length).map(() => verdict));
          if (verdicts.length >= items.length) break;
        }
        const [first] = verdicts;
        return first && verdicts.every(({ kind }) => kind === first.kind) ? first : { kind: 'partial', items: verdicts };
      },
      close: () => sender.close(),
    };
  };
}

function itemsOf(vendor: CompiledVendor, { event, values }: TransportRecord): VendorItem[] {
  const whole = { ...event, anonymous_id: 'visitor-1', properties: values };
  const built = vendor.build(whole, { now: Date.now(), bytes: JSON.stringify(whole).length });
  if (built.kind !== 'items') throw new Error(JSON.stringify(built));
  return built.items;
}

function batchesOf({ batch }: CompiledVendor, items: VendorItem[]): VendorItem[][] {
  const batches: VendorItem[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const open = batches.at(-1);
    if (open && batch && open.length < batch.max_items && bytes + item.size <= batch.max_bytes) {
      open.push(item);
      bytes += item.size;
    } else {
      batches.push([item]);
      bytes = item.size;
    }
  }
  return batches;
}
