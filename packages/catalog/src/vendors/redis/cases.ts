import { vendorCases } from '../shared/cases.ts';
import { orderCompleted, pageViewed } from '../shared/sample-events.ts';
import redis from './vendor.ts';

const order = orderCompleted();
const page = pageViewed();

export default vendorCases(redis, [
  { name: 'an event is a record', event: order, records: [{ event_id: 'evt-1', target: 'firsthand:events', values: { ...order } }] },
  {
    name: 'the target may depend on the event',
    config: { stream: 'raw-{{event.type}}' },
    event: page,
    records: [{ event_id: page.event_id, target: 'raw-page', values: { ...page } }],
  },
  {
    name: 'only the mapped fields',
    config: { events: { 'Order Completed': { mappings: [{ source: 'properties.order_id', target: 'id' }] } } },
    event: order,
    records: [{ event_id: 'evt-1', target: 'firsthand:events', values: { id: 'o-1' } }],
  },
  { name: 'dropped', config: { defaults: { action: 'drop' } }, event: page, dropped: 'mapping_default' },
]);
