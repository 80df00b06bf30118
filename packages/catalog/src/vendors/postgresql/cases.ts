import { vendorCases } from '../shared/cases.ts';
import { orderCompleted, pageViewed } from '../shared/sample-events.ts';
import postgresql from './vendor.ts';

const order = orderCompleted();
const page = pageViewed();

export default vendorCases(postgresql, [
  { name: 'an event is a row', event: order, records: [{ event_id: 'evt-1', target: 'events', values: { ...order } }] },
  {
    name: 'schema and table',
    config: { table: 'analytics.raw' },
    event: page,
    records: [{ event_id: page.event_id, target: 'analytics.raw', values: { ...page } }],
  },
]);
