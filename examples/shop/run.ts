/** Starts the example: a receiver that plays the vendors, the shop's web server, and the pipeline between them. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { startReceiver } from './receiver.ts';
import { setUpShop } from './setup.ts';

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://localhost:8080' },
    email: { type: 'string', default: 'owner@localhost' },
    password: { type: 'string' },
    port: { type: 'string', default: '3000' },
  },
});
if (values.password === undefined) {
  console.error("Name the owner's password: node examples/shop/run.ts --password …");
  process.exit(1);
}

const receiver = await startReceiver(({ vendor, body }) => console.log(`${vendor} ${JSON.stringify(body)}`));
const shop = await setUpShop({ url: values.url, email: values.email, password: values.password }, receiver.url);
const page = readFileSync(new URL('index.html', import.meta.url), 'utf8').replace('<!-- COLLECTOR -->', () => shop.snippet);

const server = createServer((req, res) => {
  if (req.url === '/') res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
  else res.writeHead(404).end();
});
server.listen(Number(values.port), '127.0.0.1', () => {
  console.log(`The shop is open: http://localhost:${(server.address() as AddressInfo).port}/`);
});
