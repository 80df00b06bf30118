import { vendorCases } from '../shared/cases.ts';
import { orderCompleted, pageViewed } from '../shared/sample-events.ts';
import sftp from './vendor.ts';

const page = pageViewed();

export default vendorCases(sftp, [
  {
    name: 'the whole event, in the folder of its hour',
    event: page,
    records: [{ event_id: page.event_id, target: 'firsthand/2026/01/02/03/', values: { ...page } }],
  },
  {
    name: 'with a password, a folder per event',
    config: { authentication: 'password', prefix: 'in/', path: '{event}/{date}', format: 'csv' },
    event: orderCompleted(),
    records: [{ event_id: 'evt-1', target: 'in/order_completed/2026-01-02/', values: { ...orderCompleted() } }],
  },
]);
