/** The cases of every broker: a record per event, a target that depends on the event, a mapping, a drop. */
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { type VendorCases, vendorCases } from './cases.ts';
import { orderCompleted, pageViewed } from './sample-events.ts';

const order = orderCompleted();
const page = pageViewed();

/**
 * @param field the config field that names the target
 * @param target what its placeholder names
 */
export function streamCases(vendor: VendorDefinition, field: string, target: string): VendorCases {
  return vendorCases(vendor, [
    { name: 'an event is a record', event: order, records: [{ event_id: 'evt-1', target, values: { ...order } }] },
    {
      name: 'the target may depend on the event',
      config: { [field]: 'raw-{{event.type}}' },
      event: page,
      records: [{ event_id: page.event_id, target: 'raw-page', values: { ...page } }],
    },
    {
      name: 'only the mapped fields',
      config: { events: { 'Order Completed': { mappings: [{ source: 'properties.order_id', target: 'id' }] } } },
      event: order,
      records: [{ event_id: 'evt-1', target, values: { id: 'o-1' } }],
    },
    { name: 'dropped', config: { defaults: { action: 'drop' } }, event: page, dropped: 'mapping_default' },
  ]);
}
