import { vendorCases } from '../shared/cases.ts';
import { orderCompleted, pageViewed, remembered } from '../shared/sample-events.ts';
import amazonS3 from './vendor.ts';

const page = pageViewed({ context: {} });
const line = `${JSON.stringify(page)}\n`;

export default vendorCases(
  amazonS3,
  [
    {
      name: 'one object of lines, named by its content under the hour of its first event',
      event: page,
      requests: [
        {
          method: 'PUT',
          url: 'https://s3.eu-central-1.amazonaws.com/acme-events/firsthand/2026/01/02/03/b64523b0e9ff0fae7cb60a3d90a2dd5d14ab95834255a4df7e4a259aa1aa60b1.ndjson',
          headers: {
            'Content-Type': 'application/x-ndjson',
            'x-amz-date': '20260102T030500Z',
            'x-amz-storage-class': 'STANDARD',
            'x-amz-content-sha256': 'b64523b0e9ff0fae7cb60a3d90a2dd5d14ab95834255a4df7e4a259aa1aa60b1',
          },
          body: line,
        },
      ],
    },
    {
      name: 'app, screen, group, session, click id, consent: all of it is in the line',
      event: remembered(),
      requests: [{ body: `${JSON.stringify(remembered())}\n` }],
    },
    {
      name: 'a prefix keeps its slashes, a session token is sent',
      config: { prefix: 'a/b=c/', session_token: 'tok', storage_class: 'STANDARD_IA' },
      event: page,
      requests: [
        {
          url: 'https://s3.eu-central-1.amazonaws.com/acme-events/a/b%3Dc/2026/01/02/03/b64523b0e9ff0fae7cb60a3d90a2dd5d14ab95834255a4df7e4a259aa1aa60b1.ndjson',
          headers: { 'x-amz-security-token': 'tok', 'x-amz-storage-class': 'STANDARD_IA' },
        },
      ],
    },
    {
      name: 'only what the mapping keeps',
      config: { events: { 'Order Completed': { mappings: [{ source: 'properties.order_id', target: 'id' }] } } },
      event: orderCompleted(),
      requests: [{ body: '{"id":"o-1"}\n' }],
    },
    { name: 'dropped', config: { defaults: { action: 'drop' } }, event: page, dropped: 'mapping_default' },
  ],
  [
    { name: '200', events: [page], reply: { status: 200 }, verdict: { kind: 'delivered' } },
    {
      name: '503 SlowDown',
      events: [page],
      reply: { status: 503, body: '<Error><Code>SlowDown</Code></Error>' },
      verdict: { kind: 'unavailable' },
    },
    { name: '403', events: [page], reply: { status: 403, body: '<Error><Code>AccessDenied</Code></Error>' }, verdict: { kind: 'refused' } },
    {
      name: 'a request that was too slow',
      events: [page],
      reply: { status: 400, body: '<Error><Code>RequestTimeout</Code></Error>' },
      verdict: { kind: 'unavailable' },
    },
    { name: '409', events: [page], reply: { status: 409 }, verdict: { kind: 'unavailable' } },
  ],
);
