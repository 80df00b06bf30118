import { answered, createApiClient, RefusedError } from '@firsthand/console/api-client.ts';
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import type { Address, Answer, Body } from './harness/api-types.ts';
import { signIn } from './harness/client.ts';
import { OWNER, type Service, startService } from './harness/service.ts';

describe('the typed client', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  test('signs in, creates a pipeline and an integration, and lists them', async () => {
    let token: string | undefined;
    const api = createApiClient({ baseUrl: service.url, accessToken: () => token });

    const early = await api.GET('/v1/admin/pipelines');
    expect([early.response.status, early.error?.error.code]).toEqual([401, 'INVALID_TOKEN']);

    ({ access_token: token } = await answered(api.POST('/v1/admin/auth/login', { body: OWNER })));
    const pipeline = await answered(api.POST('/v1/admin/pipelines', { body: { name: 'Typed', labels: ['env:test'] } }));
    expect(pipeline.pipeline_key_secret).toMatch(/^sk_/);
    const config = { url: 'https://hooks.example/in', authentication: 'bearer', auth_token: 'a-token-nobody-may-read' };
    const integration = await answered(
      api.POST('/v1/admin/integrations', { body: { source_id: pipeline.id, vendor: 'webhook', name: 'Hook', config } }),
    );
    expect(integration.config).toMatchObject({ auth_token: '••••read' });

    const pipelines = await answered(api.GET('/v1/admin/pipelines', { params: { query: { label: 'env:test', limit: 10 } } }));
    expect([pipelines.total, pipelines.limit, pipelines.pipelines.map(({ id }) => id)]).toEqual([1, 10, [pipeline.id]]);
    const { integrations } = await answered(api.GET('/v1/admin/pipelines/{id}/integrations', { params: { path: { id: pipeline.id } } }));
    expect(integrations.map(({ id, health }) => [id, health.status])).toEqual([[integration.id, 'ok']]);

    const wrong = answered(api.PUT('/v1/admin/pipelines/{id}', { params: { path: { id: pipeline.id } }, body: { rate_limit_rps: 0 } }));
    await expect(wrong).rejects.toThrow(RefusedError);
    await expect(wrong).rejects.toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'rate_limit_rps' }] });
    const gone = await api.DELETE('/v1/admin/pipelines/{id}/integrations/{integration_id}', {
      params: { path: { id: pipeline.id, integration_id: integration.id } },
    });
    expect(gone.response.status).toBe(204);
  });

  test('types addresses, bodies and responses of the test harness', async () => {
    const client = await signIn(service);
    const { id, slug } = await client.post('/pipelines', { name: 'Through the harness' });
    const { pipelines, total } = await client.get('/pipelines?search=through&limit=1');
    expect([total, pipelines[0]?.id]).toEqual([1, id]);
    expect((await client.put(`/pipelines/${id}`, { labels: ['a'] })).slug).toBe(slug);
    await expect(client.get(`/pipelines/${id}x`)).rejects.toThrow('404');
    // Checked by the compiler: `tsc` fails if the harness loses its types.
    expectTypeOf<Address<'get', '/no-such-thing'>>().toBeNever();
    expectTypeOf<Address<'put', `/integration-templates/${string}/revisions/${string}`>>().toBeNever();
    expectTypeOf<Answer<'get', `/pipelines/${string}`>['rate_limit_rps']>().toEqualTypeOf<number>();
    expectTypeOf<Answer<'get', '/users/me'>['email']>().toEqualTypeOf<string>();
    expectTypeOf<Answer<'get', `/dlq?integration_id=${string}`>['dead_letters'][number]['attempts'][number]['status']>().toEqualTypeOf<
      number | null
    >();
    expectTypeOf<{ nam: string }>().not.toExtend<Body<'post', '/pipelines'>>();
  });
});
