/** The typed API client of the console: adds the access token, and renews it once where the service refuses it. */
import { createApiClient, RefusedError } from './api-client.ts';
import { session } from './session/session.ts';

export const api = createApiClient();
api.use({
  async onRequest({ request }) {
    const token = await session.token();
    if (token !== undefined) request.headers.set('authorization', `Bearer ${token}`);
    return request;
  },
  async onResponse({ request, response }) {
    if (response.status !== 401) return response;
    const token = await session.renew(request.headers.get('authorization')?.slice('Bearer '.length) ?? '');
    // A body can be read once; only requests without one are sent again by themselves.
    if (token === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) return response;
    const headers = new Headers(request.headers);
    headers.set('authorization', `Bearer ${token}`);
    return fetch(new Request(request, { headers }));
  },
});

/** What a failed call throws: the API's own words, or that the service cannot be reached. */
export class Unreachable extends Error {
  constructor() {
    super('The service cannot be reached. Check that it runs and that you are online.');
    this.name = 'Unreachable';
  }
}

/** The data of an answer; throws `RefusedError` with the API's words, or `Unreachable`. */
export async function call<T>(answer: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  let settled: { data?: T; error?: unknown; response: Response };
  try {
    settled = await answer;
  } catch {
    throw new Unreachable();
  }
  const { data, error, response } = settled;
  if (response.ok) return data as T;
  const body = error as { error?: { code?: string; message?: string; details?: { field: string; message: string }[] } } | undefined;
  throw new RefusedError({
    error: {
      code: body?.error?.code ?? 'UNAVAILABLE',
      message: body?.error?.message ?? `The service answered ${response.status}.`,
      details: body?.error?.details ?? [],
    },
  } as ConstructorParameters<typeof RefusedError>[0]);
}
export { RefusedError };
