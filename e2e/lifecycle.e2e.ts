import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { pipelineTo, send, until } from './harness/client.ts';
import { stage } from './harness/stage.ts';

const { service, client, receiver } = await stage();

describe('pipeline lifecycle', () => {
  const track = (key: string, body: object = {}, headers: Record<string, string> = {}) =>
    send(service, key, '/v1/t', { type: 'track', event: 'Hello', ...body }, headers);

  test('a disabled pipeline rejects events, an enabled one accepts them, and the key of a deleted one is unknown', async () => {
    const { pipeline, key } = await pipelineTo(client, receiver.url);
    expect((await track(key)).status).toBe(200);
    await client.put(`/pipelines/${pipeline.id}`, { enabled: false });
    expect(await track(key)).toMatchObject({ status: 401, body: { error: 'pipeline_disabled' } });
    await client.put(`/pipelines/${pipeline.id}`, { enabled: true });
    expect((await track(key)).status).toBe(200);
    expect(await client.delete(`/pipelines/${pipeline.id}`)).toMatchObject({ status: 200, body: { status: 'deleted' } });
    expect(await track(key)).toMatchObject({ status: 401, body: { error: 'invalid_pipeline_key' } });
    expect((await client.call('GET', `/pipelines/${pipeline.id}`)).status).toBe(404);
  });

  test('a signed request verifies with the current secret only', async () => {
    const { pipeline, key } = await pipelineTo(client, receiver.url, { pipeline: { type: 'server', config: { require_signature: true } } });
    const signed = (secret: string, body: string, timestamp = String(Date.now())) =>
      send(service, key, '/v1/events', body, {
        'x-timestamp': timestamp,
        'x-signature': `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`,
      });
    const body = JSON.stringify({ type: 'track', event: 'Signed', userId: 'u1' });
    expect(await send(service, key, '/v1/events', body)).toMatchObject({ status: 401, body: { error: 'invalid_signature' } });
    expect((await signed(pipeline.pipeline_key_secret, body)).status).toBe(200);
    expect((await signed(pipeline.pipeline_key_secret, body, String(Date.now() - 400_000))).status).toBe(401);
    const rotated = await client.post(`/pipelines/${pipeline.id}/rotate-secret`);
    expect((await signed(pipeline.pipeline_key_secret, body)).status).toBe(401);
    expect((await signed(rotated.pipeline_key_secret, body)).status).toBe(200);
  });

  test('a challenge token is valid for its own pipeline and is not delivered', async () => {
    const { pipeline, key } = await pipelineTo(client, receiver.url, { pipeline: { challenge_token_required: true } });
    expect(await track(key)).toMatchObject({ status: 401, body: { error: 'invalid_challenge_token' } });
    const { token } = await client.post(`/pipelines/${pipeline.id}/tokens`);
    expect((await track(key, { messageId: 'challenged', context: { challenge_token: token } })).status).toBe(200);
    expect((await track(key, {}, { 'x-challenge-token': token })).status).toBe(200);
    const event = await until('the delivery', () => receiver.events().find((each) => each.event_id === 'challenged'));
    expect(JSON.stringify(event)).not.toContain(token);
  });

  test('a browser on a foreign origin is rejected, with the CORS headers that let it read the response', async () => {
    const { key } = await pipelineTo(client, receiver.url, { pipeline: { domain_allowlist: ['shop.example', '*.shop.example'] } });
    const refused = await track(key, {}, { origin: 'https://evil.example' });
    expect(refused).toMatchObject({ status: 403, body: { error: 'origin_not_allowed' } });
    expect(refused.headers.get('vary')).toContain('Origin');
    const taken = await track(key, {}, { origin: 'https://www.shop.example' });
    expect(taken.status).toBe(200);
    expect(taken.headers.get('access-control-allow-origin')).toBe('https://www.shop.example');
    expect(taken.headers.get('set-cookie')).toMatch(/^_df_id=/);
  });

  test('a disabled integration drops its events, and removing one discards its backlog', async () => {
    const { pipeline, integration, key } = await pipelineTo(client, receiver.url);
    const path = `/pipelines/${pipeline.id}/integrations/${integration.id}` as const;
    await client.put(path, { enabled: false });
    await track(key, { messageId: 'while-disabled' });
    await until('the drop', async () => {
      const { body } = await client.call('GET', '/events/while-disabled');
      return body.deliveries?.[0]?.reason === 'integration_disabled';
    });
    await client.put(path, { enabled: true });
    await track(key, { messageId: 'enabled-again' });
    await until('the delivery', () => receiver.events().some((event) => event.event_id === 'enabled-again'));
    expect(receiver.events().some((event) => event.event_id === 'while-disabled')).toBe(false);
    expect((await client.delete(path)).status).toBe(204);
    expect((await client.call('GET', path)).status).toBe(404);
  });

  test('moving the pinned revision forward and back changes the payload', async () => {
    const { pipeline, integration, key } = await pipelineTo(client, `${receiver.url}/one`);
    const config = { url: `${receiver.url}/two`, rate_limit_rps: 1_000 };
    await client.post(`/integration-templates/${integration.template_id}/revisions`, { config, change_summary: 'Second address' });
    const path = `/pipelines/${pipeline.id}/integrations/${integration.id}` as const;
    const arrives = async (id: string) => {
      await track(key, { messageId: id });
      return until(`${id}`, () => receiver.requests.find((request) => request.body.includes(`"${id}"`))?.path);
    };
    expect(await arrives('pin-1')).toBe('/one');
    await client.put(path, { revision_number: 2 });
    expect(await arrives('pin-2')).toBe('/two');
    await client.put(path, { revision_number: 1 });
    expect(await arrives('pin-3')).toBe('/one');
    const diff = await client.post(`/integration-templates/${integration.template_id}/revisions/diff`, {
      from: 1,
      to: 2,
      pipeline_id: pipeline.id,
    });
    expect(diff).toMatchObject({ compared: 3, changed: 3, dropped_by_to: 0 });
    expect((await client.call('DELETE', `/integration-templates/${integration.template_id}`)).status).toBe(409);
    expect((await client.call('PUT', `/integration-templates/${integration.template_id}/revisions/1`, {})).status).toBe(405);
  });
});
