import { vendorCases } from '../shared/cases.ts';
import { orderCompleted, pageViewed, productViewed } from '../shared/sample-events.ts';
import azureBlobStorage from './vendor.ts';

const viewed = productViewed();
const LINE = `${JSON.stringify(viewed)}\n`;
const NAME = 'https://acmeevents.blob.core.windows.net/events/firsthand/2026/01/02/03/';

export default vendorCases(
  azureBlobStorage,
  [
    {
      name: 'an event as a line of a block blob, signed with the account key',
      event: viewed,
      requests: [
        {
          method: 'PUT',
          url: `${NAME}34063286149932d709c3f59c5d40ba364ba1639e92cde09f368f4065bdad58d8.ndjson`,
          headers: {
            'x-ms-blob-type': 'BlockBlob',
            'x-ms-version': '2021-12-02',
            'x-ms-date': 'Fri, 02 Jan 2026 03:05:00 GMT',
            'Content-Type': 'application/x-ndjson',
            Authorization: 'SharedKey acmeevents:JQ6wA3iLpy421y7lxSyGF22Pb8X8sAkh5/7eVPFm2rM=',
          },
          body: LINE,
        },
      ],
    },
    {
      name: 'a SAS token is the credential, and no header',
      config: { authentication: 'sas' },
      event: viewed,
      requests: [
        {
          url: `${NAME}34063286149932d709c3f59c5d40ba364ba1639e92cde09f368f4065bdad58d8.ndjson?sv=2022-11-02&sr=c&sp=cw&sig=c2lnbmF0dXJl`,
          body: LINE,
        },
      ],
    },
    {
      name: 'several events in one blob',
      event: viewed,
      batched: [pageViewed()],
      requests: [{ body: `${LINE}${JSON.stringify(pageViewed())}\n` }],
    },
    {
      name: 'gzip in the name and in the header',
      config: { compression: 'gzip' },
      event: viewed,
      requests: [{ headers: { 'Content-Encoding': 'gzip' } }],
    },
  ],
  [
    { name: 'created', events: [orderCompleted()], reply: { status: 201 }, verdict: { kind: 'delivered' } },
    {
      name: 'busy',
      events: [orderCompleted()],
      reply: { status: 503, headers: { 'x-ms-error-code': 'ServerBusy' } },
      verdict: { kind: 'unavailable' },
    },
    { name: 'throttled', events: [orderCompleted()], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    {
      name: 'a wrong key',
      events: [orderCompleted()],
      reply: { status: 403, headers: { 'x-ms-error-code': 'AuthenticationFailed' }, body: '<?xml version="1.0"?><Error/>' },
      verdict: { kind: 'refused', reason: 'http_403: AuthenticationFailed' },
    },
    {
      name: 'no such container',
      events: [orderCompleted()],
      reply: { status: 404, headers: { 'x-ms-error-code': 'ContainerNotFound' } },
      verdict: { kind: 'refused', reason: 'http_404: ContainerNotFound' },
    },
    {
      name: 'a container that is being deleted',
      events: [orderCompleted()],
      reply: { status: 409, headers: { 'x-ms-error-code': 'ContainerBeingDeleted' } },
      verdict: { kind: 'unavailable' },
    },
  ],
);
