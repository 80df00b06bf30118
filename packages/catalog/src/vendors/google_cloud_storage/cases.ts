import { vendorCases } from '../shared/cases.ts';
import { orderCompleted, pageViewed } from '../shared/sample-events.ts';
import googleCloudStorage from './vendor.ts';

const page = pageViewed();

export default vendorCases(googleCloudStorage, [
  {
    name: 'the whole event, in the folder of its hour',
    event: page,
    records: [{ event_id: page.event_id, target: 'firsthand/2026/01/02/03/', values: { ...page } }],
  },
  {
    name: 'one folder',
    config: { prefix: 'raw', path: '/' },
    event: orderCompleted(),
    records: [{ event_id: 'evt-1', target: 'raw/', values: { ...orderCompleted() } }],
  },
]);
