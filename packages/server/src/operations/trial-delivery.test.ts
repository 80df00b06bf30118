import { afterEach, beforeEach, expect, test } from 'vitest';
import { createGuardedClient } from '../outbound/guarded-client.ts';
import type { TokenCache } from '../outbound/tokens.ts';
import { anEvent, anIntegration, compiledWebhook, Receiver } from '../roles/deliver/testing/bench.ts';
import { systemClock } from '../runtime/clock.ts';
import type { CompiledIntegration } from '../snapshot/types.ts';
import { createSender } from '../transports/sender.ts';
import { trialDelivery } from './trial-delivery.ts';

const client = createGuardedClient({ allowPrivateDestinations: true, clock: systemClock });
const tokens: TokenCache = {
  get: async () => {
    throw new Error('a webhook needs no token');
  },
  reject: () => undefined,
};
const sender = createSender({ client, tokens, clock: systemClock, allowPrivateDestinations: true });
const send = (integration: CompiledIntegration, event: ReturnType<typeof anEvent>) =>
  trialDelivery({ sender, clock: systemClock }, integration, event);

let receiver: Receiver;
beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(() => receiver.stop());

test('a delivery test really sends, and returns the vendor’s response', async () => {
  receiver.respond = (_request, response) => void response.writeHead(418).end('short and stout');
  const integration = anIntegration(compiledWebhook(receiver.url));
  expect(await send(integration, anEvent('e1'))).toMatchObject({ status: 418, response_excerpt: 'short and stout' });
  expect(await send(anIntegration(undefined), anEvent('e1'))).toEqual({
    status: null,
    duration_ms: 0,
    response_excerpt: 'nothing was sent; misconfigured: url: is required',
  });
  expect(receiver.requests).toHaveLength(1);
});

test('a delivery test sends nothing for the browser’s own integrations, and shows no secret that the vendor repeats', async () => {
  receiver.respond = (request, response) => void response.end(`you sent ${request.headers.authorization}`);
  const config = { url: receiver.url, authentication: 'bearer', auth_token: 'whk_0123456789abcd' };
  const integration = { ...anIntegration(compiledWebhook(receiver.url, config)), config, secrets: [config.auth_token] };
  expect(await send(integration, anEvent('e1'))).toMatchObject({ response_excerpt: 'you sent Bearer ••••abcd' });
  const clientSide = anIntegration(compiledWebhook(receiver.url), { delivery_mode: 'client_side' });
  expect(await send(clientSide, anEvent('e2'))).toEqual({
    status: null,
    duration_ms: 0,
    response_excerpt: 'nothing was sent; dropped: client_side',
  });
  expect(receiver.requests).toHaveLength(1);
});
