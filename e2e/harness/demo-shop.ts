/** The demo's shop on a running service, with some visits that have been delivered: what pages of the console show. */
import { AdminClient } from '../../packages/cli/src/demo/admin-client.ts';
import { startReceiver } from '../../packages/cli/src/demo/receiver.ts';
import { openShop, type Shop } from '../../packages/cli/src/demo/shop.ts';
import { sendStep, visit } from '../../packages/cli/src/demo/visitors.ts';
import { until } from './client.ts';
import { OWNER, type Service } from './service.ts';

export interface DemoShop extends Shop {
  admin: AdminClient;
  close(): void;
}

export async function openDemoShop(service: Service, visits: number): Promise<DemoShop> {
  const receiver = await startReceiver(() => 0.5);
  const admin = new AdminClient(service.url, OWNER.email, OWNER.password);
  const shop = await openShop(admin, receiver.url);
  for (let count = 0; count < visits; count++) for (const step of visit(Math.random)) await sendStep({ base: service.url, ...shop }, step);
  // A recorded event has been through every role.
  const recorded = async () => (await admin.get<{ totals: { delivered: number } }>('/stats')).totals.delivered;
  await until(`${visits} deliveries`, async () => (await recorded()) >= visits);
  return {
    ...shop,
    admin,
    close() {
      receiver.server.closeAllConnections();
      receiver.server.close();
    },
  };
}
