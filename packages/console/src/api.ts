/** The typed API client of the console: adds the access token, and renews it once where the service refuses it. */
import { createApiClient, RefusedError } from './api-client.ts';
import { session } from './session/session.ts';

export const api = createApiClient();
/** Copies of requests that have not been answered: a body can be read once, and a request may have to be sent again. */
const copies = new Map<string, Request>();
api.use({
  async onRequest({ request, id }) {
    const token = await session.token();
    if (token !== undefined) request.headers.set('authorization', `Bearer ${token}`);
    copies.set(id, request.clone());
    return request;
  },
  async onResponse({ response, id }) {
    const request = copies.get(id);
    copies.delete(id);
    if (response.status !== 401 || request === undefined) return response;
    const token = await session.renew(request.headers.get('authorization')?.slice('Bearer '.length) ?? '');
    if (token === undefined) return response;
    request.headers.set('authorization', `Bearer ${token}`);
    return fetch(request);
  },
  onError({ id }) {
    copies.delete(id);
  },
});

/** Thrown by a call that got no response. */
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
  const retryAfter = response.headers.get('retry-after');
  throw new RefusedError(
    {
      error: {
        code: body?.error?.code ?? 'UNAVAILABLE',
        message: body?.error?.message ?? `The service answered ${response.status}.`,
        details: body?.error?.details ?? [],
      },
    } as ConstructorParameters<typeof RefusedError>[0],
    retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined,
  );
}
export { RefusedError };
