import { vendorCases } from '../shared/cases.ts';
import { orderCompleted, productViewed } from '../shared/sample-events.ts';
import azureBlobStorage from './vendor.ts';

const viewed = productViewed();

export default vendorCases(azureBlobStorage, [
  {
    name: 'the whole event, in the folder of its hour',
    event: viewed,
    records: [{ event_id: viewed.event_id, target: 'firsthand/2026/01/02/03/', values: { ...viewed } }],
  },
  {
    name: 'a config of an earlier version',
    config: { authentication: 'sas', prefix: 'raw/', compression: 'none' },
    event: viewed,
    records: [{ event_id: viewed.event_id, target: 'raw/2026/01/02/03/', values: { ...viewed } }],
  },
  {
    name: 'Parquet by type and day',
    config: { format: 'parquet', compression: 'snappy', path: '{type}/{date}' },
    event: orderCompleted(),
    records: [{ event_id: 'evt-1', target: 'firsthand/track/2026-01-02/', values: { ...orderCompleted() } }],
  },
]);
