/** Creates the shop's pipeline, three integrations and the collector build, with nothing but the public management API. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface Account {
  url: string;
  email: string;
  password: string;
}
export interface Shop {
  pipeline_id: string;
  pipeline_key: string;
  /** The collector's script tag, to be put into the page. */
  snippet: string;
}
type Call = <T>(method: 'GET' | 'POST', path: string, body?: unknown) => Promise<T>;

export async function setUpShop(account: Account, receiverUrl: string): Promise<Shop> {
  const call = await signIn(account);
  const pipeline = await call<{ id: string; pipeline_key: string }>('POST', '/pipelines', { name: 'Example shop' });
  for (const integration of integrations(receiverUrl))
    await call('POST', '/integrations', { source_id: pipeline.id, enabled: true, ...integration });
  await call('POST', `/pipelines/${pipeline.id}/collector/build`);
  for (;;) {
    const build = await call<{ status: string; error?: string | null }>('GET', `/pipelines/${pipeline.id}/collector/status`);
    if (build.error) throw new Error(`The collector build failed: ${build.error}`);
    if (build.status === 'ready') break;
    await sleep(200);
  }
  const { snippet } = await call<{ snippet: string }>('GET', `/pipelines/${pipeline.id}/collector/snippet`);
  return { pipeline_id: pipeline.id, pipeline_key: pipeline.pipeline_key, snippet };
}

/** `endpoint` replaces the vendor's own address, so that the local receiver gets the requests. */
function integrations(receiverUrl: string) {
  return [
    {
      vendor: 'google_analytics_4',
      name: 'Google Analytics 4',
      consent_category: 'analytics',
      config: { measurement_id: 'G-EXAMPLE123', api_secret: 'example-api-secret-0001', endpoint: `${receiverUrl}/google-analytics` },
    },
    {
      vendor: 'meta_conversions_api',
      name: 'Meta Conversions API',
      consent_category: 'marketing',
      config: { pixel_id: '1234567890123456', access_token: 'EAABexampletoken0123456789', endpoint: `${receiverUrl}/meta` },
    },
    { vendor: 'webhook', name: 'Webhook', config: { url: `${receiverUrl}/webhook` } },
  ];
}

async function signIn({ url, email, password }: Account): Promise<Call> {
  const send = async (method: string, path: string, body: unknown, token?: string) => {
    const response = await fetch(`${url}/v1/admin${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      ...(method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const { access_token } = (await send('POST', '/auth/login', { email, password })) as { access_token: string };
  return async <T>(method: 'GET' | 'POST', path: string, body?: unknown) => (await send(method, path, body, access_token)) as T;
}
