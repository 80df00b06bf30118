import { vendorCases } from '../shared/cases.ts';
import { orderCompleted, pageViewed, remembered } from '../shared/sample-events.ts';
import amazonS3 from './vendor.ts';

const page = pageViewed({ context: {} });

export default vendorCases(amazonS3, [
  {
    name: 'the whole event, in the folder of its hour',
    event: page,
    records: [{ event_id: page.event_id, target: 'firsthand/2026/01/02/03/', values: { ...page } }],
  },
  {
    name: 'app, screen, group, session, click id, consent: all of it is in the row',
    event: remembered(),
    records: [{ event_id: remembered().event_id, target: 'firsthand/2026/01/02/03/', values: { ...remembered() } }],
  },
  {
    name: 'folders by event and day',
    config: { prefix: 'raw/', path: 'event={event}/dt={date}' },
    event: orderCompleted(),
    records: [{ event_id: 'evt-1', target: 'raw/event=order_completed/dt=2026-01-02/', values: { ...orderCompleted() } }],
  },
  {
    name: 'a config of an earlier version',
    config: { prefix: 'a/b=c/', compression: 'none', storage_class: 'STANDARD_IA', batch_size: 100, batch_interval_ms: 10_000 },
    event: page,
    records: [{ event_id: page.event_id, target: 'a/b=c/2026/01/02/03/', values: { ...page } }],
  },
  {
    name: 'only what the mapping keeps',
    config: { events: { 'Order Completed': { mappings: [{ source: 'properties.order_id', target: 'id' }] } } },
    event: orderCompleted(),
    records: [{ event_id: 'evt-1', target: 'firsthand/2026/01/02/03/', values: { id: 'o-1' } }],
  },
  { name: 'dropped', config: { defaults: { action: 'drop' } }, event: page, dropped: 'mapping_default' },
]);
